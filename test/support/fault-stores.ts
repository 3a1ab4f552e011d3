import { memoryStore, type Store } from 'headgate'
import { type ChargeResult, customStore, type Refund } from 'headgate/store'
import type { Parts } from '../../src/testing/conformance/store-calls.js'
import { chargeStore } from './store-calls.js'
import { type StoreMethods, storeOf } from './store-of.js'

/** A store that only answers charges, in the way given. */
export function storeThat(charge: (charges: readonly Parts[]) => unknown): Store {
  return storeOf({
    name: 'faulty',
    charge: charge as NonNullable<StoreMethods['charge']>,
    refund: () => undefined,
    forget: () => undefined,
  })
}

export const brokenStore = () => storeThat(() => Promise.reject(new Error('connection lost')))
export const throwingStore = () => {
  return storeThat(() => {
    throw new Error('not connected')
  })
}
export const hangingStore = () => storeThat(() => new Promise(() => undefined))

/** A store that answers each charge when the test says so, and then correctly. */
export function lateStore(): Store & { answerAll(): void; failAll(error: unknown): void } {
  const memory = memoryStore()
  const waiting: { resolve(): void; reject(error: unknown): void }[] = []
  return {
    ...storeThat(
      (charges) =>
        new Promise((resolve, reject) => {
          waiting.push({ resolve: () => resolve(chargeStore(memory, charges)), reject })
        }),
    ),
    answerAll() {
      for (const { resolve } of waiting.splice(0)) resolve()
    },
    failAll(error) {
      for (const { reject } of waiting.splice(0)) reject(error)
    },
  }
}

/**
 * A correct store that answers with promises, as a remote one does, and records its calls: of refunds, those
 * of limits, and not those of the marks of undecided requests.
 */
export function promisingStore(): Store & { charges: Parts[]; refunds: Refund[] } {
  const memory = memoryStore()
  const charges: Parts[] = []
  const refunds: Refund[] = []
  return customStore({
    name: 'promising',
    charges,
    refunds,
    async apply(operations) {
      for (const operation of operations) {
        if (operation.type === 'charge') charges.push(operation.parts)
        else if (operation.type === 'refund' && operation.key.endsWith('}')) refunds.push(operation)
      }
      return memory.apply(operations)
    },
  })
}

const part = { allowed: true, remaining: 1, resetAfterMs: 0, retryAfterMs: 0, moreAfterMs: 0 }
const verdict: ChargeResult = { type: 'charge', allowed: true, atMs: 1, parts: [part] }

/** Answers that make no sense for a charge of one part. */
export const NONSENSE: readonly (readonly [string, unknown])[] = [
  ['undefined', undefined],
  ['null', null],
  ['a string', 'OK'],
  ['a verdict outside a list', verdict],
  ['an empty list', []],
  ['two verdicts', [verdict, verdict]],
  ['a list of null', [null]],
  ['no parts', [{ ...verdict, parts: [] }]],
  ['too many parts', [{ ...verdict, parts: [part, part] }]],
  ['parts that are no list', [{ ...verdict, parts: 1 }]],
  ['a part that is null', [{ ...verdict, parts: [null] }]],
  ['a string for allowed', [{ ...verdict, allowed: 'yes' }]],
  ['NaN for the time', [{ ...verdict, atMs: Number.NaN }]],
  ['no time', [{ allowed: true, parts: [part] }]],
  ['NaN remaining', [{ ...verdict, parts: [{ ...part, remaining: Number.NaN }] }]],
  ['negative remaining', [{ ...verdict, parts: [{ ...part, remaining: -1 }] }]],
  ['a numeric string remaining', [{ ...verdict, parts: [{ ...part, remaining: '1' }] }]],
  ['no time to retry', [{ ...verdict, parts: [{ ...part, retryAfterMs: undefined }] }]],
  ['a part that contradicts the whole', [{ ...verdict, parts: [{ ...part, allowed: false }] }]],
]
