import { pageModule } from '../../../support/page-module.js'

const { undoOf } = pageModule<{ undoOf(event: object, context: object): unknown }>('change-made.js')

test('an event has no undo if it is no change of settings, or one of which nothing is kept', () => {
  const event = { limiter: 'api', by: 'ada', text: 'blocked 9 clients' }
  const given = [undefined, {}, { identities: ['eve'] }, { change: 'id', parts: 0 }]
  expect(given.map((details) => undoOf({ ...event, details }, {}))).toEqual(given.map(() => undefined))
  expect(() => undoOf({ ...event, details: { change: 'id' } }, {})).toThrow('document is not defined') // it makes a button
})
