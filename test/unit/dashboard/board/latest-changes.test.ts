import { latestChanges } from '../../../../src/dashboard/board/latest-changes.js'
import type { LoggedEvent } from '../../../../src/dashboard/figures/logged-event.js'

const NOW_MS = 1_790_000_000_000
const MINUTE_MS = 60_000

const settings = (limiter: string, minutesAgo: number, limits?: string, by = 'ada'): LoggedEvent => ({
  id: `${limiter} ${minutesAgo}`,
  atMs: NOW_MS - minutesAgo * MINUTE_MS,
  kind: 'settings',
  limiter,
  text: 'changed',
  by,
  details: { change: 'c', ...(limits !== undefined && { limits }) },
})

test('of each limiter, the last change of its limits within an hour is kept, but no block and no exemption', () => {
  const events = [
    settings('old', 61, 'set old to 5 per 1m'),
    settings('api', 30, 'set api to 60 per 1m'),
    settings('api', 20, 'set api to 6 per 1m', 'bob'),
    settings('api', 10),
    { ...settings('login', 5, 'set login to 5'), kind: 'mode' as const },
  ]
  expect([...latestChanges(events, NOW_MS)]).toEqual([
    ['api', { atMs: NOW_MS - 20 * MINUTE_MS, text: 'set api to 6 per 1m', by: 'bob' }],
  ])
})
