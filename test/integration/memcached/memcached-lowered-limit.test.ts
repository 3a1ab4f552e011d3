import { consecutive, fixedWindow, memoryStore, type Policy, slidingWindow } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import { chargeOne, part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { applyTo, chargeStore } from '../../support/store-calls.js'
import { useMemcached } from './use-memcached.js'

const memcached = useMemcached()

const KINDS: readonly (readonly [string, (limit: number) => Policy])[] = [
  ['fixed window', (limit) => fixedWindow({ limit, window: '1d' })],
  ['sliding window', (limit) => slidingWindow({ limit, window: '1d', slices: 4 })],
  ['consecutive limit', (limit) => consecutive({ limit })],
]

test.each(KINDS)(
  'a reward after the limit of a %s was lowered gives back units of all that are in use',
  async (_kind, of) => {
    const { store } = memcached
    await chargeOne(store, part('key', of(10), 8))
    expect((await chargeOne(store, part('key', of(4)))).allowed).toBe(false)
    const [rewarded] = await applyTo(store, [
      { type: 'reward', key: 'key', policy: of(4), units: 6 } as const,
    ])
    expect(rewarded).toMatchObject({ remaining: 2 })
    expect(await remainingOf(store, of(4), ['key'])).toEqual([2])
  },
)

/** The figures of a memory store that has taken `used` units at `takenAtMs`, for a charge at `atMs`. */
async function modelOf(
  of: (limit: number) => Policy,
  used: number,
  takenAtMs: number,
  atMs: number,
  cost: number,
) {
  let nowMs = takenAtMs
  const model = memoryStore({ clock: () => nowMs })
  await chargeOne(model, part('key', of(10), used))
  nowMs = atMs
  const { parts } = await chargeOne(model, part('key', of(4), cost))
  return parts[0]
}

test.each(KINDS)(
  'after the limit of a %s was lowered, a denial and a peek have the figures of the memory store',
  async (_kind, of) => {
    const { store } = memcached
    const { atMs: takenAtMs } = await chargeOne(store, part('key', of(10), 8))
    for (const cost of [1, 3, 0]) {
      const { atMs, parts } = await chargeOne(store, part('key', of(4), cost))
      const model = await modelOf(of, 8, takenAtMs, atMs, cost)
      const { remaining, retryAfterMs, moreAfterMs, resetAfterMs } = parts[0] ?? {}
      expect(model).toMatchObject({ remaining, retryAfterMs, moreAfterMs, resetAfterMs })
    }
    expect(await remainingOf(store, of(10), ['key'])).toEqual([2])
  },
)

test('while several clients are denied at once, no time is too early, and afterwards times match the memory store', async () => {
  const sliding = (limit: number) => slidingWindow({ limit, window: '1d', slices: 4 })
  const stores = [memcached.store, memcachedStore(memcached.open()), memcachedStore(memcached.open())]
  const { atMs: takenAtMs } = await chargeOne(memcached.store, part('key', sliding(10), 4))
  for (let round = 0; round < 100; round++) {
    const verdicts = await Promise.all(
      stores.flatMap((store) => [
        chargeStore(store, [[part('key', sliding(4))], [part('key', sliding(4))]]),
        chargeStore(store, [[part('key', sliding(4), 2)]]),
      ]),
    )
    for (const { allowed, atMs, parts } of verdicts.flat()) {
      expect(allowed).toBe(false)
      const model = await modelOf(sliding, 4, takenAtMs, atMs, 1)
      expect(parts[0]?.moreAfterMs).toBeGreaterThanOrEqual(model?.moreAfterMs ?? Number.NaN)
    }
  }
  const { atMs, parts } = await chargeOne(memcached.store, part('key', sliding(4)))
  const model = await modelOf(sliding, 4, takenAtMs, atMs, 1)
  expect(parts[0]).toMatchObject({ remaining: 0, retryAfterMs: model?.retryAfterMs })
  expect((await chargeOne(memcached.store, part('key', sliding(5)))).allowed).toBe(true)
})
