import { latestChanges } from '../../../../src/dashboard/board/latest-changes.js'
import type { LoggedEvent } from '../../../../src/dashboard/figures/logged-event.js'

const NOW_MS = 1_790_000_000_000
const MINUTE_MS = 60_000
const before = (minutes: number) => NOW_MS - minutes * MINUTE_MS

const settings = (
  limiter: string,
  minutesAgo: number,
  limits?: string,
  { by = 'ada', effect }: { readonly by?: string; readonly effect?: string } = {},
): LoggedEvent => ({
  id: `${limiter} ${minutesAgo}`,
  atMs: before(minutesAgo),
  kind: 'settings',
  limiter,
  text: `${limits ?? 'changed'}, on purpose`,
  by,
  details: { change: 'c', ...(limits !== undefined && { limits }), ...(effect !== undefined && { effect }) },
})

test('of each limiter, the last change of its limits within an hour is kept, but no block and no exemption', () => {
  const events = [
    settings('old', 61, 'set old to 5 per 1m'),
    settings('api', 30, 'set api to 60 per 1m'),
    settings('api', 20, 'set api to 6 per 1m', { by: 'bob', effect: 'stricter' }),
    settings('api', 10),
    { ...settings('login', 5, 'set login to 5'), kind: 'mode' as const },
  ]
  expect([...latestChanges(events, NOW_MS)]).toEqual([
    ['api', { change: { atMs: before(20), text: 'set api to 6 per 1m', by: 'bob' } }],
  ])
})

test('a change that allows more is no cause but a remedy, and ends the cause if it is of all clients', () => {
  const lowered = settings('api', 20, 'set api to 6 per 1m', { effect: 'stricter' })
  const reset = settings('api', 9, 'reset api to the limit in the code', { by: 'bob', effect: 'looser' })
  const raised = settings('api', 5, undefined, { by: 'eve', effect: 'looser' })
  const released = { ...settings('api', 4), kind: 'release' as const, text: 'released acme' }
  const lowest = settings('api', 3, 'set api to 1 per 1m', { effect: 'stricter' })
  const cause = { atMs: before(20), text: 'set api to 6 per 1m', by: 'ada' }
  const seen = [
    [reset],
    [lowered, reset],
    [lowered, raised],
    [lowered, raised, released],
    [lowered, reset, lowest],
  ].map((events) => latestChanges(events, NOW_MS).get('api'))
  const undone = { atMs: before(9), text: 'reset api to the limit in the code, on purpose', by: 'bob' }
  expect(seen).toEqual([
    { remedy: undone },
    { change: { ...cause, undoneMs: before(9) }, remedy: undone },
    { change: cause, remedy: { atMs: before(5), text: 'changed, on purpose', by: 'eve' } },
    { change: cause, remedy: { atMs: before(4), text: 'released acme', by: 'ada' } },
    { change: { atMs: before(3), text: 'set api to 1 per 1m', by: 'ada' }, remedy: undone },
  ])
})
