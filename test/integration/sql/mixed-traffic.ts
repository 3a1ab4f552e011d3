import type { Policy, Store } from 'headgate'
import { LONG_POLICIES } from '../../../src/testing/conformance/sample-policies.js'
import { type Parts, part } from '../../../src/testing/conformance/store-calls.js'
import { chargeStore, forgetStore, refundStore, type TakenUnits } from '../../support/store-calls.js'

/** What one process is to do. */
export interface MixedOrder {
  /** Distinguishes its choices, and its own keys, from those of others. */
  readonly process: number
  readonly decisions: number
  readonly callers: number
}

/** By key: how many units were allowed, less what was refunded. */
export type Taken = Record<string, number>

export interface MixedCounts {
  readonly allowed: number
  readonly denied: number
  readonly refunds: number
  readonly forgets: number
  /** The texts of what failed, and how often. */
  readonly errors: Readonly<Record<string, number>>
  readonly taken: Taken
}

const HOT = 4
const WARM = 30
const COLD = 1000
const MOST_PARTS = 4
/** Hot keys reach their limits, so that charges are denied, and only refunds make room. */
const LIMIT = 30

/** The policy by which a key is counted: its first letter says which. */
export function policyOf(key: string): Policy {
  const [, make] = LONG_POLICIES[Number(key[0])] ?? []
  if (make === undefined) throw new Error(`There is no policy for ${key}.`)
  return make(LIMIT)
}

/** Keys that somebody forgets now and then: for these, less may be taken than was allowed. */
export const isForgotten = (key: string) => key.includes('forgotten')

/**
 * Hot and cold keys, charges of several parts in any order, refunds, forgets, new keys: so many decisions,
 * one after the other per caller.
 */
export async function runMixed(
  store: Store,
  { process, decisions, callers }: MixedOrder,
): Promise<MixedCounts> {
  const counts = { allowed: 0, denied: 0, refunds: 0, forgets: 0 }
  const errors: Record<string, number> = {}
  const taken: Taken = {}
  const receipts: TakenUnits[] = []
  const random = numbers(process + 1)
  const below = (n: number) => Math.floor(random() * n)
  let begun = 0

  function anyKey(): string {
    const policy = below(LONG_POLICIES.length)
    const dice = random()
    if (dice < 0.35) return `${policy}:hot:${below(HOT)}`
    if (dice < 0.65) return `${policy}:warm:${below(WARM)}`
    if (dice < 0.85) return `${policy}:cold:${below(COLD)}`
    if (dice < 0.9) return `${policy}:forgotten:${below(HOT)}`
    return `${policy}:new:${process}:${begun}`
  }

  function anyCharge(): Parts {
    const parts = random() < 0.6 ? 1 : 2 + below(MOST_PARTS - 1)
    return Array.from({ length: parts }, () => {
      const key = anyKey()
      return part(key, policyOf(key), 1 + below(3))
    })
  }

  async function charge(): Promise<void> {
    const wanted = anyCharge()
    const [verdict] = await chargeStore(store, [wanted])
    counts[verdict?.allowed ? 'allowed' : 'denied']++
    if (!verdict?.allowed) return
    wanted.forEach((one, i) => {
      taken[one.key] = (taken[one.key] ?? 0) + one.cost
      const resetAtMs = verdict.atMs + (verdict.parts[i]?.resetAfterMs ?? 0)
      receipts.push({ ...one, takenAtMs: verdict.atMs, resetAtMs })
    })
  }

  async function giveBack(receipt: TakenUnits): Promise<void> {
    await refundStore(store, [receipt])
    counts.refunds++
    taken[receipt.key] = (taken[receipt.key] ?? 0) - receipt.cost
  }

  async function step(): Promise<void> {
    const dice = random()
    const receipt = dice < 0.3 ? receipts.splice(below(receipts.length), 1)[0] : undefined
    if (receipt !== undefined) await giveBack(receipt)
    if (dice > 0.98) {
      const key = `${below(LONG_POLICIES.length)}:forgotten:${below(HOT)}`
      await forgetStore(store, [{ key, policy: policyOf(key) }])
      counts.forgets++
    }
    await charge()
  }

  async function call(): Promise<void> {
    while (begun < decisions) {
      begun++
      await step().catch((error: unknown) => {
        errors[String(error)] = (errors[String(error)] ?? 0) + 1
      })
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  return { ...counts, errors, taken }
}

/** Numbers from 0 to 1 that are the same in each run (Park and Miller's generator). */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}
