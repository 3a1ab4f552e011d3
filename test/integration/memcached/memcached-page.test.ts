import { fixedWindow, slidingWindow, tokenBucket } from 'headgate'
import { costsOf, costTable, decisionsOf } from '../../support/decision-costs.js'
import { useMemcached } from './use-memcached.js'

const memcached = useMemcached()

const fixed = fixedWindow({ limit: 5, window: '1000d' })
const sliding = slidingWindow({ limit: 5, window: '1000d', slices: 3 })
const bucket = tokenBucket({ capacity: 5, refill: 5, every: '1d' })

/** An increment that creates its counter is not among these, but the item is. */
const COMMANDS = ['incr', 'decr', 'delete']
const CHANGES = ['total_items', ...COMMANDS.flatMap((command) => [`${command}_hits`, `${command}_misses`])]

/** Returns how many items a step reads and changes, by the statistics of the server. */
async function costOf(step: () => unknown): Promise<readonly number[]> {
  await memcached.server.command('stats reset')
  await step()
  const stats = await memcached.server.command('stats')
  const counts = new Map(
    Array.from(stats.matchAll(/^STAT (\S+) (\d+)/gm), ([, name, n]) => [name, Number(n)]),
  )
  const sum = (names: readonly string[]) => names.reduce((total, name) => total + (counts.get(name) ?? 0), 0)
  return [sum(['cmd_get']), sum(CHANGES)]
}

/** Few charges also read their counter, so that memcached does not evict it. */
beforeEach(() => void jest.spyOn(Math, 'random').mockReturnValue(0.999))
afterEach(() => jest.restoreAllMocks())

test('a decision costs what the page says', async () => {
  const figures = new Map<string, readonly number[]>()
  for (const [first, second] of [
    [fixed, bucket],
    [sliding, bucket],
    [bucket, fixed],
  ] as const) {
    await memcached.server.command('flush_all')
    for (const [decision, costs] of await costsOf(memcached.store, decisionsOf(first, second), costOf))
      figures.set(decision, [...(figures.get(decision) ?? []), ...costs])
  }
  expect(costTable('memcached')).toEqual([...figures])
})
