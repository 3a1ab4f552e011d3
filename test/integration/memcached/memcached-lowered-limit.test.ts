import { consecutive, fixedWindow, type Policy, slidingWindow } from 'headgate'
import { chargeOne, part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { applyTo } from '../../support/store-calls.js'
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
