import type { Charge, Refund } from '../store.js'
import type { Counters } from './counters.js'
import { type KeyResult, type KeyWork, workOn } from './key-work.js'
import type { Link } from './link.js'
import type { MemcachedReply } from './memcached-client.js'
import { tellNotGivenBack } from './not-given-back.js'
import { PastSlices, SETTLED_MS } from './past-slices.js'
import { foreignItem, refusal } from './refusal.js'
import { type Ask, decrement, get, increment, remove, STATUS } from './wire.js'

/** Does work on keys of counting policies. */
export interface Counting {
  run(
    key: string,
    works: readonly KeyWork[],
    counters: Counters,
    nowMs: number,
  ): Promise<readonly KeyResult[]>
  forget(key: string, counters: Counters, nowMs: number): Promise<void>
}

/**
 * Counts first and gives back what was denied, so that whatever others count meanwhile, never more than a limit is admitted.
 * What several charges want is counted in one step, and what others have counted before it decides. For as long as it takes to give
 * back, others may be denied for it.
 */
export function counting(ask: Link): Counting {
  const past = new PastSlices()

  /** Asks for a count, which is 0 where there is no counter. */
  async function count(key: string, one: Ask): Promise<number> {
    const reply = await ask(key, one)
    const { status } = reply.header
    if (status === STATUS.notFound) return 0
    if (status === STATUS.ok) return countIn(one, reply)
    throw refusal(one, reply)
  }

  /** The counts of the slices before this one, the newest first. */
  function olderCounts(key: string, slice: number, { older, keyOf }: Counters): (number | Promise<number>)[] {
    return Array.from({ length: older }, (_, i) => {
      const at = slice - 1 - i
      return past.countOf(key, at) ?? count(key, get(keyOf(key, at)))
    })
  }

  function keepPast(key: string, slice: number, counts: number[], counters: Counters, nowMs: number): void {
    if (counters.older === 0) return
    const newest = counters.sliceAt(nowMs - SETTLED_MS) - 1
    past.keep(key, newest, counts.slice(slice - 1 - newest))
  }

  async function run(
    key: string,
    works: readonly KeyWork[],
    counters: Counters,
    nowMs: number,
  ): Promise<readonly KeyResult[]> {
    const { sliceAt, keyOf, expirationAt, stateOf } = counters
    const slice = sliceAt(nowMs)
    const givenBack = works.flatMap((work) =>
      'refund' in work ? [giveBack(key, work.refund, slice, counters)] : [],
    )
    const others = works.filter((work) => !('refund' in work))
    if (others.length === 0) return Promise.all(givenBack)
    const charges = works.flatMap((work) => ('charge' in work ? [work.charge] : []))
    const counter = keyOf(key, slice)
    const amount = wantedBy(charges)
    const counted = count(key, amount > 0 ? increment(counter, amount, expirationAt(nowMs)) : get(counter))
    const giveUnusedBack = (unused: number) => {
      if (unused > 0) count(key, decrement(counter, unused)).catch(tellNotGivenBack)
    }
    const [sum, counts] = await Promise.all([
      counted,
      Promise.all(olderCounts(key, slice, counters)),
      ...givenBack,
    ]).catch((error: unknown) => {
      counted.then(
        () => giveUnusedBack(amount),
        () => undefined,
      )
      throw error
    })
    keepPast(key, slice, counts, counters, nowMs)
    const state = stateOf(slice, [sum - amount, ...counts])
    const { results } = workOn(state, others, nowMs)
    giveUnusedBack(amount - takenBy(others, results))
    let at = 0
    return works.map((work) => ('refund' in work ? undefined : results[at++]))
  }

  async function giveBack(
    key: string,
    refund: Refund,
    slice: number,
    counters: Counters,
  ): Promise<undefined> {
    const takenIn = counters.sliceAt(refund.takenAtMs)
    if (refund.cost === 0 || takenIn > slice || takenIn < slice - counters.older) return
    if (takenIn < slice) past.forget(key)
    await count(key, decrement(counters.keyOf(key, takenIn), refund.cost))
  }

  async function forget(key: string, { sliceAt, older, keyOf }: Counters, nowMs: number): Promise<void> {
    const slice = sliceAt(nowMs)
    past.forget(key)
    const slices = Array.from({ length: older + 2 }, (_, i) => slice + 1 - i) // the next one for a clock that is ahead
    await Promise.all(slices.map((each) => count(key, remove(keyOf(key, each)))))
  }

  return { run, forget }
}

/** What is counted for charges: all that may be allowed, and no more than may be allowed in all. */
function wantedBy(charges: readonly Charge[]): number {
  const limit = charges[0]?.[0]?.policy.limit ?? 0
  const costs = charges.map((charge) => charge.reduce((sum, { cost }) => sum + cost, 0))
  return Math.min(
    limit,
    costs.reduce((sum, cost) => (cost > limit ? sum : sum + cost), 0),
  )
}

function takenBy(works: readonly KeyWork[], results: readonly KeyResult[]): number {
  let taken = 0
  works.forEach((work, i) => {
    if ('charge' in work && results[i]?.allowed) for (const { cost } of work.charge) taken += cost
  })
  return taken
}

/** Counts and takings are answered by 8 bytes, reads by the digits as memcached keeps them. */
function countIn(one: Ask, { val, extras }: MemcachedReply): number {
  if (val.length === 0) return 0 // removed
  if (one.extras !== undefined) return Number(val.readBigUInt64BE(0))
  const text = val.toString('latin1').trimEnd()
  if (extras.readUInt32BE(0) === 0 && /^\d{1,20}$/.test(text)) return Number(text)
  throw foreignItem(one.key)
}
