import { createClient } from '../../../docs/.vitepress/theme/policies/client.js'
import { SHOWN } from '../../../docs/.vitepress/theme/policies/shown.js'

const START_MS = 1_780_000_000_000 // a window of ten seconds begins

const cases = SHOWN.map((shown) => [shown.title, shown] as const)

/** Returns a client that has sent ten requests at once, all of which were allowed. */
function emptyClient({ policy }: (typeof SHOWN)[number]) {
  const client = createClient(policy)
  const allowed = Array.from({ length: 10 }, () => client.send(START_MS))
  expect(allowed).toEqual(Array(10).fill(true))
  return client
}

test.each(cases)('%s: a fresh client is full, and its next request is allowed', (_, { policy }) => {
  expect(createClient(policy).read(START_MS)).toEqual({ level: 1, remaining: 10, retryAfterMs: 0 })
})

test.each(cases)(
  '%s: after ten requests at once, the client is empty, and its next one is denied',
  (_, shown) => {
    const client = emptyClient(shown)
    expect(client.read(START_MS)).toMatchObject({ level: 0, remaining: 0 })
    expect(client.read(START_MS).retryAfterMs).toBeGreaterThan(0)
    expect(client.send(START_MS)).toBe(false)
  },
)

test.each(cases)('%s: the retry time is exact: a millisecond earlier is denied', (_, shown) => {
  const client = emptyClient(shown)
  const { retryAfterMs } = client.read(START_MS)
  expect(client.send(START_MS + retryAfterMs - 1)).toBe(false)
  expect(client.read(START_MS + retryAfterMs - 1).retryAfterMs).toBe(1)
  expect(client.send(START_MS + retryAfterMs)).toBe(true)
})

test.each(cases)('%s: reading takes nothing', (_, shown) => {
  const client = emptyClient(shown)
  const later = START_MS + 30_000
  for (let i = 0; i < 20; i++) client.read(later)
  expect(client.read(later)).toEqual({ level: 1, remaining: 10, retryAfterMs: 0 })
})

test('a bucket is refilled evenly, also between whole tokens', () => {
  const [bucket] = SHOWN as [(typeof SHOWN)[number]]
  const client = emptyClient(bucket)
  const levels = [500, 1000, 2500, 9999, 10_000].map((ms) => client.read(START_MS + ms).level)
  expect(levels.map((level) => level.toFixed(3))).toEqual(['0.050', '0.100', '0.250', '1.000', '1.000'])
  expect(client.read(START_MS + 2500).remaining).toBe(2)
})

test('windows give back their requests at once, or by slices', () => {
  const levelOf = (title: string, ms: number) =>
    emptyClient(SHOWN.find((shown) => shown.title === title) as (typeof SHOWN)[number]).read(START_MS + ms)
      .level
  expect([levelOf('Fixed window', 9999), levelOf('Fixed window', 10_000)]).toEqual([0, 1])
  expect([levelOf('Sliding log', 9999), levelOf('Sliding log', 10_000)]).toEqual([0, 1])
  expect([levelOf('Sliding window', 10_000), levelOf('Sliding window', 10_500)]).toEqual([0, 0.5])
})
