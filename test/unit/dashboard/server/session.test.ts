import { sessionOf } from '../../../../src/dashboard/server/session.js'

test.each<readonly [access: true | 'view', operator: unknown, session: object]>([
  [true, 'ada', { canChange: true, operator: 'ada' }],
  ['view', ' ada ', { canChange: false, operator: 'ada' }],
  [true, undefined, { canChange: true }],
  [true, ' ', { canChange: true }],
  [true, 42, { canChange: true }],
  [true, 'x'.repeat(300), { canChange: true, operator: 'x'.repeat(200) }],
  [true, 'a\ud800', { canChange: true, operator: 'a\ufffd' }],
])('access %j and an operator %j', (access, operator, session) => {
  expect(sessionOf(access, operator)).toEqual(session)
})

test('an operator that is a promise which rejects names nobody, and does not end the process', async () => {
  const unhandled = jest.fn()
  process.on('unhandledRejection', unhandled)
  expect(sessionOf(true, Promise.reject(new Error('no database')))).toEqual({ canChange: true })
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', unhandled)
  expect(unhandled).not.toHaveBeenCalled()
})
