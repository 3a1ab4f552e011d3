import { concurrencyPolicy as concurrency } from '../../policies/concurrency.js'
import { tokenBucket } from '../../policies/token-bucket.js'
import type { Charge, Refund, Renew } from '../../stores/operation.js'
import type { Store } from '../../stores/store.js'
import { expectEqual } from '../assertions.js'
import { asModel, type CaseStep, expectAsModel, operationsOf, receiptAt, refund } from './as-model.js'
import { LONG } from './sample-policies.js'
import { applyOne, chargeOne, forgetAll, part, receiptOf, remainingOf } from './store-calls.js'
import { casesOf, type StoreCase } from './store-case.js'
import type { Capabilities } from './store-under-test.js'

const FIVE = concurrency({ limit: 5, ttl: LONG })
const BUCKET = tokenBucket({ capacity: 2, refill: 2, every: LONG })
const TTL_MS = 8000

const { charge, forget } = operationsOf(FIVE)
const peekAtTokens = (key: string) => operationsOf(BUCKET).charge(0, key)
const withTokens = (slots: number, tokens: string): Charge => {
  return { type: 'charge', parts: [part('slots', FIVE, slots), part(tokens, BUCKET)] }
}
const renewLast: CaseStep = (receipts) => renewal(receiptAt(receipts, -1))
const refundLast: CaseStep = (receipts) => receiptAt(receipts, -1)

const renewal = (units: Refund): Renew => ({ ...units, type: 'renew' })

async function renewUnits(store: Store, units: Refund): Promise<Refund> {
  const { resetAtMs } = await applyOne(store, renewal(units))
  return { ...units, resetAtMs }
}

const always = casesOf('concurrency', {
  'shows the figures of the policy': asModel(...[1, 0, 3, 2, 6, 1, 1].map((cost) => charge(cost))),

  'is exact among 500 charges at once, of which some name their key twice': async ({ store }) => {
    const policy = concurrency({ limit: 100, ttl: LONG })
    const sizes = Array.from({ length: 500 }, (_, i) => (i % 2 === 0 ? 1 : 2))
    const charges = sizes.map((size) => chargeOne(store, ...Array(size).fill(part('hot', policy))))
    const verdicts = await Promise.all(charges)
    const taken = sizes.reduce((sum, size, i) => sum + (verdicts[i]?.allowed ? size : 0), 0)
    expectEqual('units taken of 100', taken, 100)
    expectEqual('remaining', await remainingOf(store, policy, ['hot']), [0])
  },

  'frees what a release gives back': asModel(
    ...[charge(5), charge(), refund({ cost: 2 }), charge(0), refund({ cost: 3 }), charge(0), charge(5)],
  ),

  'restores lost units by a renewal, which releases them from their new place': asModel(
    ...[charge(3), forget(), charge(0), renewLast, charge(0), refundLast, charge(0)],
  ),

  'counts units once, however often they are renewed': asModel(
    ...[charge(3), renewLast, renewLast, renewLast, charge(0)],
    (receipts) => [renewal(receiptAt(receipts, -1)), renewal(receiptAt(receipts, -1))],
    charge(0),
  ),

  'renews many keys at once, each its own': async ({ store }) => {
    const keys = Array.from({ length: 300 }, (_, i) => `key-${i}`)
    const held = await Promise.all(keys.map((key) => receiptOf(store, key, FIVE, 2)))
    await forgetAll(store, held.slice(0, 150))
    await Promise.all(held.map((units) => renewUnits(store, units)))
    const remaining = new Set(await remainingOf(store, FIVE, keys))
    expectEqual('remaining of all keys', [...remaining], [3])
  },

  'is taken with a tokenBucket, all or nothing': asModel(
    ...[withTokens(2, 'tokens'), withTokens(2, 'tokens'), withTokens(1, 'tokens'), withTokens(2, 'other')],
    ...[charge(0, 'slots'), peekAtTokens('tokens'), peekAtTokens('other')],
  ),

  'is the only policy that is renewed': async ({ store }) => {
    const units = await receiptOf(store, 'key', BUCKET, 1)
    const error = await renewUnits(store, units).then(
      () => undefined,
      (reason) => reason,
    )
    expectEqual('a renewal of a bucket fails', error instanceof Error, true)
    expectEqual('remaining', await remainingOf(store, BUCKET, ['key']), [1])
  },
})

const later = (ms: number): CaseStep => ({ type: 'advance', ms })
const inTime = casesOf('concurrency in time', {
  'is held by renewals, and free one ttl after the last of them': (made) => {
    const short = operationsOf(concurrency({ limit: 3, ttl: `${TTL_MS}ms` }))
    const renewals = Array<CaseStep[]>(4).fill([
      later(TTL_MS / 2),
      renewLast,
      short.charge(0),
      short.charge(),
    ])
    return expectAsModel(
      made,
      [short.charge(3), ...renewals.flat(), later(TTL_MS * 1.25), short.charge(0), short.charge(3)],
      true,
    )
  },
})

/** Units that requests hold: taken, renewed and released. */
export function concurrencyCases({ settableClock }: Capabilities): StoreCase[] {
  return settableClock ? [...always, ...inTime] : always
}
