import { createLimiter } from 'headgate'
import { readLabel } from '../../../../src/dashboard/figures/label.js'
import { originOf } from '../../../../src/dashboard/figures/origin.js'
import { type Inspection, inspectionOf } from '../../../../src/limiter/inspection.js'
import { nameHash } from '../../../../src/util/distinct-names.js'

const inspection = inspectionOf(createLimiter({ limit: 1, window: '1m' })) as Inspection
const from = (remoteAddress: string) => ({ method: 'GET', url: '/', headers: {}, socket: { remoteAddress } })

test.each([
  ['203.0.113.7', '203.0.113.7', '203.0.113.0/24'],
  ['::ffff:203.0.113.7', '203.0.113.7', '203.0.113.0/24'],
  ['2001:db8:1:2::9', '2001:db8:1:2::9/128', '2001:db8:1::/48'],
])('the address %s is of the network that limits could block', (address, whole, network) => {
  expect(originOf(from(address), inspection)).toEqual({
    route: 'GET /',
    addressHash: nameHash(whole),
    network,
  })
})

test('a subject without an address, or whose connection is gone, has no network', () => {
  const nowhere = { addressHash: undefined, network: undefined }
  expect(originOf('ada', inspection)).toEqual({ route: undefined, ...nowhere })
  const gone = { method: 'GET', url: '/', headers: {}, socket: { destroyed: true } }
  expect(originOf(gone, inspection)).toEqual({ route: 'GET /', ...nowhere })
  const hostile = new Proxy(
    {},
    {
      get: () => {
        throw new Error('hostile')
      },
    },
  )
  expect(originOf(hostile, inspection)).toEqual({ route: undefined, ...nowhere })
})

test('a label is short, on one line, and never an error', () => {
  const long = 'x'.repeat(500)
  const given = ['Ada', 7, ' a ', '', ' ', long, 'a\nb\u202e', {}, null, undefined, Promise.resolve('x')]
  expect(given.map((value) => readLabel(() => value, 'subject'))).toEqual([
    'Ada',
    '7',
    'a',
    undefined,
    undefined,
    long.slice(0, 80),
    'a\\u000ab\\u202e',
    undefined,
    undefined,
    undefined,
    undefined,
  ])
  expect(
    readLabel(() => {
      throw new Error('x')
    }, 'subject'),
  ).toBeUndefined()
  expect(readLabel(undefined, 'subject')).toBeUndefined()
})

test('a label that is a promise which rejects does not end the process', async () => {
  const unhandled = jest.fn()
  process.on('unhandledRejection', unhandled)
  expect(readLabel(() => Promise.reject(new Error('no database')), 'subject')).toBeUndefined()
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', unhandled)
  expect(unhandled).not.toHaveBeenCalled()
})
