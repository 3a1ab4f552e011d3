import { setTimeout as pause } from 'node:timers/promises'
import { consecutive, StoreError } from 'headgate'
import { chargeStore } from '../../support/store-calls.js'
import type { Opened } from './open-in-child.js'

/** A message to a process: charge pairs of keys for so long, or show that the pool is whole. */
export type PairsQuestion = PairsOrder | { readonly take: number }

export interface PairsOrder {
  readonly pairs: number
  readonly callers: number
  readonly forMs: number
  /** How long each caller pauses after a charge; 0 for not at all. */
  readonly restMs: number
}

/** What came of the charges, by pair. Those that failed may have been taken or not. */
export interface PairCounts {
  readonly allowed: number[]
  readonly failed: number[]
  /** The texts of what failed. */
  readonly texts: readonly string[]
}

export const PAIR_POLICY = consecutive({ limit: 1_000_000 })

export const keysOfPair = (i: number): [string, string] => [`left:${i}`, `right:${i}`]

export async function chargePairs(
  { store }: Opened,
  { pairs, callers, forMs, restMs }: PairsOrder,
): Promise<PairCounts> {
  const allowed = new Array<number>(pairs).fill(0)
  const failed = new Array<number>(pairs).fill(0)
  const texts = new Set<string>()
  const endMs = performance.now() + forMs
  async function charge(pair: number): Promise<void> {
    const charge = keysOfPair(pair).map((key) => ({ key, policy: PAIR_POLICY, cost: 1 }))
    try {
      await chargeStore(store, [charge])
      allowed[pair] = (allowed[pair] ?? 0) + 1
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      failed[pair] = (failed[pair] ?? 0) + 1
      texts.add(error.message)
      await pause(10) // a caller that fails does not come back at once
    }
  }
  async function call(caller: number): Promise<void> {
    for (let i = caller; performance.now() < endMs; i++) {
      await charge(i % pairs)
      if (restMs > 0) await pause(restMs)
    }
  }
  await Promise.all(Array.from({ length: callers }, (_, i) => call(i)))
  return { allowed, failed, texts: [...texts] }
}

/** Takes so many connections at the same time, and has each of them work. */
export async function takeAll({ pool }: Opened, count: number): Promise<number> {
  const sessions = await Promise.all(Array.from({ length: count }, () => pool.take()))
  for (const session of sessions) await session.run('SELECT 1')
  for (const session of sessions) session.release()
  return sessions.length
}
