import { changeText, limitsText } from '../../../../src/dashboard/board/change-text.js'
import type { ChangedPart, SettingsOverride } from '../../../../src/limiter/settings-document.js'

const UNTIL = '2026-11-28T13:19:00Z'
const MARK = `{${Date.parse(UNTIL)}}`
const textOf = (parts: readonly ChangedPart[] | undefined, undoes?: string) =>
  changeText({
    id: 'a',
    by: 'ada',
    reason: 'a test',
    atMs: 0,
    ...(parts && { parts }),
    ...(undoes && { undoes }),
  })
const override = (own: SettingsOverride, isRemoved = false): ChangedPart => {
  const path = `overrides[${JSON.stringify(own)}]`
  return isRemoved ? { path, before: own } : { path, after: own }
}

test.each<[readonly ChangedPart[] | undefined, string]>([
  [undefined, 'changed the settings'],
  [[], 'changed the settings'],
  [[{ path: 'mode', after: 'report' }], 'set the mode to report'],
  [[{ path: 'mode', before: 'report' }], 'reset the mode to the one in the code'],
  [[{ path: 'candidate', after: { limits: {} } }], 'set a candidate'],
  [[{ path: 'candidate', before: { limits: {} } }], 'removed the candidate'],
  [[{ path: 'limits.api', after: { limit: 7 } }], 'set api to 7'],
  [[{ path: 'limits.a.b', after: { limit: 7, window: '1m' } }], 'set a.b to 7 per 1m'],
  [[{ path: 'limits.api', after: { window: 60_000 } }], 'set api to a window of 1m'],
  [
    [{ path: 'limits.api', after: { policy: 'consecutive', limit: 3 } }],
    'set api to another policy (consecutive)',
  ],
  [[{ path: 'limits.api', before: { limit: 7 } }], 'reset api to the limit in the code'],
  [
    [override({ network: '203.0.113.0/24', block: true, until: UNTIL })],
    `blocked 203.0.113.0/24 until ${MARK}`,
  ],
  [[override({ network: '203.0.113.0/24', block: true, until: UNTIL }, true)], 'unblocked 203.0.113.0/24'],
  [[override({ identity: ['a', 'b'], exempt: true })], 'exempted a | b'],
  [[override({ identity: 'a', exempt: true }, true)], 'ended the exemption of a'],
  [[override({ identityPrefix: 'trial-', limits: { api: { limit: 2 } } })], 'set api to 2 for trial-…'],
  [
    [
      override({
        identity: 'acme',
        limits: { 'a*': { limit: 200 }, b: { limit: 9, window: '1m' } },
        until: UNTIL,
      }),
    ],
    `set a* to 200 and b to 9 per 1m for acme until ${MARK}`,
  ],
  [[override({ storedIdentity: '$&', limits: { api: { limit: 2 } } }, true)], 'removed the override of $&'],
])('%j', (parts, text) => {
  expect(textOf(parts)).toBe(text)
})

test('overrides with one effect and end are named together, and an undo says so', () => {
  const blocks = Array.from({ length: 40 }, (_, i) =>
    override({ storedIdentity: `c${i}`, block: true, until: UNTIL }),
  )
  const exemption = override({ identity: 'ada', exempt: true })
  expect(textOf([...blocks, exemption])).toBe(
    `blocked c0, c1 and 38 other clients until ${MARK}, exempted ada`,
  )
  expect(textOf([override({ identity: 'ada', block: true }, true)], 'b')).toBe(
    'unblocked ada, to undo a change',
  )
})

test('of many limits, the first five are named', () => {
  const parts = Array.from({ length: 8 }, (_, i) => ({ path: `limits.l${i}`, after: { limit: i + 1 } }))
  expect(textOf(parts)).toBe('set l0 to 1, set l1 to 2, set l2 to 3, set l3 to 4, set l4 to 5, 3 more')
})

test('what a change did to limits and mode is said without its overrides and candidate', () => {
  const limitsOf = (...parts: readonly ChangedPart[]) =>
    limitsText({ id: 'a', by: 'ada', reason: 'r', atMs: 0, parts })
  const block = override({ identity: 'ada', block: true })
  const limit = { path: 'limits.api', before: { limit: 60 }, after: { limit: 6 } }
  expect(limitsOf(block, { path: 'candidate', after: { limits: {} } })).toBeUndefined()
  expect(limitsOf(block, limit)).toBe('set api to 6')
  expect(limitsOf({ path: 'mode', after: 'enforce' }, limit)).toBe('set the mode to enforce and set api to 6')
  expect(limitsText({ id: 'a', by: 'ada', reason: 'r', atMs: 0 })).toBeUndefined()
})
