import { effectOf } from '../../../../src/dashboard/board/change-effect.js'
import type { ChangedPart, SettingsOverride } from '../../../../src/limiter/settings-document.js'
import { fixedWindow } from '../../../../src/policies/fixed-window.js'

const { spec } = fixedWindow({ limit: 60, window: '1m' })
const CODE = [
  { name: 'api', policy: spec, from: 'code' as const },
  { name: 'dynamic', policy: undefined, from: 'code' as const },
]
const override = (own: SettingsOverride, isRemoved = false): ChangedPart => {
  const path = `overrides[${JSON.stringify(own)}]`
  return isRemoved ? { path, before: own } : { path, after: own }
}
const api = (before?: object, after?: object) =>
  ({ path: 'limits.api', ...(before && { before }), ...(after && { after }) }) as ChangedPart

test.each<[string, readonly ChangedPart[], string | undefined]>([
  ['a limit that is lowered', [api(undefined, { limit: 6 })], 'stricter'],
  ['a limit that is raised', [api(undefined, { limit: 600 })], 'looser'],
  ['the undo of a limit that was lowered', [api({ limit: 6 })], 'looser'],
  ['the undo of a limit that was raised', [api({ limit: 600, window: '1m' })], 'stricter'],
  ['a raise that is taken back in part', [api({ limit: 600 }, { limit: 300 })], 'stricter'],
  ['a longer window', [api(undefined, { window: 120_000 })], 'stricter'],
  ['a shorter window', [api(undefined, { window: '10s' })], 'looser'],
  ['more in a longer window', [api(undefined, { limit: 120, window: '1h' })], undefined],
  ['the same numbers', [api(undefined, { limit: 60, window: '1m' })], undefined],
  ['another policy', [api(undefined, { policy: 'consecutive', limit: 600 })], undefined],
  ['a limit that the code computes', [{ path: 'limits.dynamic', after: { limit: 6 } }], undefined],
  ['a limit that the code no longer has', [{ path: 'limits.gone', after: { limit: 6 } }], undefined],
  ['report mode', [{ path: 'mode', after: 'report' }], 'looser'],
  ['the end of report mode', [{ path: 'mode', before: 'report' }], 'stricter'],
  ['enforce mode', [{ path: 'mode', after: 'enforce' }], 'stricter'],
  ['the mode of the code again', [{ path: 'mode', before: 'enforce' }], 'looser'],
  [
    'one looser and one stricter',
    [api(undefined, { limit: 600 }), { path: 'mode', after: 'enforce' }],
    undefined,
  ],
  ['a raise of one client', [override({ identity: 'a', limits: { api: { limit: 200 } } })], 'looser'],
  ['its end', [override({ identity: 'a', limits: { api: { limit: 200 } } }, true)], 'stricter'],
  ['a client with less', [override({ identity: 'a', limits: { api: { limit: 2 } } })], 'stricter'],
  ['an exemption', [override({ identity: 'a', exempt: true })], 'looser'],
  ['the end of an exemption', [override({ identity: 'a', exempt: true }, true)], 'stricter'],
  ['a block', [override({ identity: 'a', block: true })], undefined],
  ['the end of a block', [override({ identity: 'a', block: true }, true)], undefined],
  ['a candidate', [{ path: 'candidate', after: { limits: {} } }], undefined],
])('%s', (_, parts, effect) => {
  expect(effectOf({ id: 'a', by: 'ada', reason: 'r', atMs: 0, parts }, CODE)).toBe(effect)
})

test('a change whose parts were not kept has no known effect', () => {
  expect(effectOf({ id: 'a', by: 'ada', reason: 'r', atMs: 0 }, CODE)).toBeUndefined()
})
