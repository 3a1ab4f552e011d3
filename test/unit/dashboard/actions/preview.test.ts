import { previewOf } from '../../../../src/dashboard/actions/preview.js'
import type { LimitDemand } from '../../../../src/tuning/client-demand.js'

const policy = { kind: 'fixed-window', limit: 10, windowMs: 60_000 } as const
const code = [{ name: 'api', policy, from: 'code' }] as const
const demand = (own: Partial<LimitDemand> = {}): LimitDemand => ({
  limitName: 'api',
  limit: 10,
  windowMs: 60_000,
  fromMs: 1000,
  toMs: 9000,
  clients: 3400,
  demands: [
    { identity: 'a', peak: 40, weight: 1, wasDenied: true },
    { identity: 'b', peak: 9, weight: 1, wasDenied: false },
    { identity: 'c', peak: 6, weight: 11, wasDenied: false },
    { identity: 'd', peak: 2, weight: 3386, wasDenied: false },
  ],
  ...own,
})
const counts = (
  denied: number,
  wouldDeny: number,
  newlyDeniedCount: number,
  noLongerDeniedCount: number,
) => ({
  denied,
  wouldDeny,
  newlyDeniedCount,
  noLongerDeniedCount,
})

test.each([
  ['a lower limit', { limits: { api: { limit: 5 } } }, counts(1, 13, 12, 0)],
  ['a limit that some reach, but none exceeds', { limits: { api: { limit: 9 } } }, counts(1, 1, 0, 0)],
  ['a higher limit', { limits: { api: { limit: 50 } } }, counts(1, 0, 0, 1)],
  ['the limit of the code', { limits: {} }, counts(1, 1, 0, 0)],
  ['another limit', { limits: { other: { limit: 1 } } }, counts(1, 1, 0, 0)],
  ['the same window', { limits: { api: { limit: 5, window: '1m' } } }, counts(1, 13, 12, 0)],
  [
    'another policy with a number',
    { limits: { api: { policy: 'fixedWindow', limit: 5, window: '1m' } } },
    counts(1, 13, 12, 0),
  ],
  ['an exemption', { overrides: [{ storedIdentity: 'a', exempt: true }] }, counts(1, 0, 0, 1)],
  ['a block', { overrides: [{ storedIdentity: 'b', block: true }] }, counts(1, 2, 1, 0)],
  ['a raise', { overrides: [{ storedIdentity: 'a', limits: { api: { limit: 40 } } }] }, counts(1, 0, 0, 1)],
] as const)('counts what %s would have denied', (_, document, expected) => {
  const [preview] = previewOf(document as never, code, [demand()])
  expect(preview).toMatchObject({ limitName: 'api', clients: 3400, fromMs: 1000, toMs: 9000, ...expected })
  expect(preview?.problem).toBeUndefined()
})

test('names those who would have been denied although they were not, the largest first', () => {
  const [preview] = previewOf({ limits: { api: { limit: 5 } } }, code, [demand()])
  expect(preview?.newlyDenied).toEqual([
    { identity: 'b', peak: 9 },
    { identity: 'c', peak: 6 },
  ])
})

test('a client counts once, although the limit has had several numbers', () => {
  const other = demand({
    limit: 20,
    toMs: 99_000,
    demands: [{ identity: 'b', peak: 30, weight: 1, wasDenied: false }],
  })
  const [preview] = previewOf({ limits: { api: { limit: 8 } } }, code, [demand(), other])
  expect(preview).toMatchObject({
    toMs: 99_000,
    ...counts(1, 2, 1, 0),
    newlyDenied: [{ identity: 'b', peak: 30 }],
  })
})

test.each([
  ['another window', { limits: { api: { window: '5m' } } }, /window in force/],
  ['a wrong window', { limits: { api: { window: 'soon' } } }, /window must be a duration/],
  ['a policy without a number', { limits: { api: { policy: 'slidingLog' } } }, /another policy/],
])('does not count what it cannot know: %s', (_, document, problem) => {
  const [preview] = previewOf(document as never, code, [demand()])
  expect(preview).toMatchObject({ problem: expect.stringMatching(problem), ...counts(0, 0, 0, 0) })
})

test('says so if nothing is counted', () => {
  expect(previewOf({}, code, [])).toMatchObject([{ problem: 'Nothing has been counted yet.', clients: 0 }])
})

test('a limit may be called like a property of all objects', () => {
  const odd = [{ name: 'constructor', policy, from: 'code' }] as const
  expect(previewOf({}, odd, [demand({ limitName: 'constructor' })])).toMatchObject([counts(1, 1, 0, 0)])
})
