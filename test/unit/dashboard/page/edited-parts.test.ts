import { pageModule } from '../../../support/page-module.js'

const { editedParts } = pageModule<{ editedParts(document: object, edited: object): object[] }>(
  'edited-parts.js',
)
const document = {
  mode: 'report',
  limits: { api: { limit: 5, window: '1m' } },
  candidate: { limits: { api: { limit: 4 } } },
}

test.each([
  ['nothing', document, { ...document, limits: { api: { window: '1m', limit: 5 } } }, []],
  [
    'a number',
    document,
    { ...document, limits: { api: { limit: 6, window: '1m' } } },
    [{ path: 'limits.api', value: { limit: 6, window: '1m' } }],
  ],
  [
    'a limit that the code decides again',
    document,
    { ...document, limits: {} },
    [{ path: 'limits.api', value: null }],
  ],
  ['the mode', document, { ...document, mode: undefined }, [{ path: 'mode', value: null }]],
  ['the candidate', document, { ...document, candidate: undefined }, [{ path: 'candidate', value: null }]],
  [
    'a first limit, named like a property of all objects',
    { limits: {} },
    { limits: { constructor: { limit: 1 } } },
    [{ path: 'limits.constructor', value: { limit: 1 } }],
  ],
])('finds what differs: %s', (_, before, edited, expected) => {
  expect(editedParts(before, edited)).toEqual(expected)
})
