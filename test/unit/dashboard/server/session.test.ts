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
