import { concurrency } from '../../policies/concurrency.js'
import { tokenBucket } from '../../policies/token-bucket.js'
import type { Refund, Renew } from '../../stores/operation.js'
import type { Store } from '../../stores/store.js'
import { expectAtLeast, expectEqual, expectMatch } from '../assertions.js'
import { LONG } from './sample-policies.js'
import {
  applyAll,
  applyOne,
  chargeOne,
  expectFigures,
  forgetAll,
  part,
  receiptOf,
  refundAll,
  remainingOf,
  takeOne,
} from './store-calls.js'
import { casesOf, type StoreCase } from './store-case.js'
import type { Capabilities } from './store-under-test.js'

const FIVE = concurrency({ limit: 5, ttl: LONG })
const BUCKET = tokenBucket({ capacity: 2, refill: 2, every: LONG })
const TTL_MS = 8000

const renewal = (units: Refund): Renew => ({ ...units, type: 'renew' })

async function renewed(store: Store, units: Refund): Promise<Refund> {
  const { resetAtMs } = await applyOne(store, renewal(units))
  return { ...units, resetAtMs }
}

const always = casesOf('concurrency', {
  'shows the figures of the policy': ({ store }) => expectFigures(store, FIVE, [1, 0, 3, 2, 6, 1, 1]),

  'is exact among 500 charges at once, of which some name their key twice': async ({ store }) => {
    const policy = concurrency({ limit: 100, ttl: LONG })
    const sizes = Array.from({ length: 500 }, (_, i) => (i % 2 === 0 ? 1 : 2))
    const charges = sizes.map((size) => chargeOne(store, ...Array(size).fill(part('hot', policy))))
    const verdicts = await Promise.all(charges)
    const taken = sizes.reduce((sum, size, i) => sum + (verdicts[i]?.allowed ? size : 0), 0)
    expectEqual('units taken of 100', taken, 100)
    expectEqual('remaining', await remainingOf(store, policy, ['hot']), [0])
  },

  'frees what a release gives back': async ({ store }) => {
    const units = await receiptOf(store, 'key', FIVE, 5)
    expectMatch('a charge of a full limit', await takeOne(store, 'key', FIVE), { allowed: false })
    await refundAll(store, [{ ...units, cost: 2 }])
    expectEqual('remaining after a release of 2', await remainingOf(store, FIVE, ['key']), [2])
    await refundAll(store, [{ ...units, cost: 3 }])
    expectMatch('a peek after all are released', await takeOne(store, 'key', FIVE, 0), { resetAfterMs: 0 })
  },

  'restores lost units by a renewal, which releases them from their new place': async ({ store }) => {
    const units = await receiptOf(store, 'key', FIVE, 3)
    await forgetAll(store, [units])
    expectEqual('remaining of a lost key', await remainingOf(store, FIVE, ['key']), [5])
    const held = await renewed(store, units)
    expectEqual('remaining after a renewal', await remainingOf(store, FIVE, ['key']), [2])
    await refundAll(store, [held])
    expectEqual('remaining after a release', await remainingOf(store, FIVE, ['key']), [5])
  },

  'counts units once, however often they are renewed': async ({ store }) => {
    let units = await receiptOf(store, 'key', FIVE, 3)
    for (let i = 0; i < 3; i++) units = await renewed(store, units)
    expectEqual('remaining after three renewals', await remainingOf(store, FIVE, ['key']), [2])
    const [, result] = await applyAll(store, [renewal(units), renewal(units)])
    expectAtLeast('resetAtMs of a renewal', result?.resetAtMs, units.resetAtMs as number)
    expectEqual('remaining after two in a batch', await remainingOf(store, FIVE, ['key']), [2])
  },

  'renews many keys at once, each its own': async ({ store }) => {
    const keys = Array.from({ length: 300 }, (_, i) => `key-${i}`)
    const held = await Promise.all(keys.map((key) => receiptOf(store, key, FIVE, 2)))
    await forgetAll(store, held.slice(0, 150))
    await Promise.all(held.map((units) => renewed(store, units)))
    const remaining = new Set(await remainingOf(store, FIVE, keys))
    expectEqual('remaining of all keys', [...remaining], [3])
  },

  'is taken with a tokenBucket, all or nothing': async ({ store }) => {
    const charge = [part('slots', FIVE, 2), part('tokens', BUCKET)]
    for (let i = 0; i < 2; i++)
      expectMatch('a charge that fits', await chargeOne(store, ...charge), { allowed: true })
    const empty = await chargeOne(store, part('slots', FIVE), part('tokens', BUCKET))
    expectMatch('a charge of an empty bucket', empty, { parts: [{ allowed: true }, { allowed: false }] })
    expectEqual('slots left', await remainingOf(store, FIVE, ['slots']), [1])
    const full = await chargeOne(store, part('slots', FIVE, 2), part('other', BUCKET))
    expectMatch('a charge of full slots', full, { parts: [{ allowed: false }, { allowed: true }] })
    expectEqual('tokens left', await remainingOf(store, BUCKET, ['tokens', 'other']), [0, 2])
  },

  'is the only policy that is renewed': async ({ store }) => {
    const units = await receiptOf(store, 'key', BUCKET, 1)
    const error = await renewed(store, units).then(
      () => undefined,
      (reason) => reason,
    )
    expectEqual('a renewal of a bucket fails', error instanceof Error, true)
    expectEqual('remaining', await remainingOf(store, BUCKET, ['key']), [1])
  },
})

const inTime = casesOf('concurrency in time', {
  'is held on by renewals, and free a ttl after the last one': async ({ store, advance }) => {
    const policy = concurrency({ limit: 3, ttl: `${TTL_MS}ms` })
    let units = await receiptOf(store, 'key', policy, 3)
    for (let i = 0; i < 4; i++) {
      await advance(TTL_MS / 2)
      const last = units
      units = await renewed(store, units)
      expectAtLeast(
        'how far a renewal moves the end',
        units.resetAtMs,
        (last.resetAtMs as number) + TTL_MS / 4,
      )
      expectEqual('remaining', await remainingOf(store, policy, ['key']), [0])
    }
    await advance(TTL_MS * 1.25)
    expectEqual('remaining after the ttl', await remainingOf(store, policy, ['key']), [3])
  },
})

/** Units that requests hold: taken, renewed and released. */
export function concurrencyCases({ settableClock }: Capabilities): StoreCase[] {
  return settableClock ? [...always, ...inTime] : always
}
