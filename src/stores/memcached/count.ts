import { StoreError } from '../../errors.js'
import type { Charge, Part, Refund, Verdict } from '../store.js'
import type { Counters } from './counters.js'
import { type ChargeOrLook, workOn } from './key-work.js'
import { askAlone, type Link } from './link.js'
import type { MemcachedReply } from './memcached-client.js'
import { tellNotGivenBack } from './not-given-back.js'
import { PastSlices, SETTLED_MS } from './past-slices.js'
import { foreignItem, refusal } from './refusal.js'
import { type Ask, decrement, get, increment, remove, STATUS } from './wire.js'

/** What is done with the results of work, or with why there are none. */
type Done<T> = (outcome: T | StoreError) => void

/** Counts by the policies that count. */
export interface Counting {
  /** Decides charges and looks of one key, in order. */
  run(
    key: string,
    works: readonly ChargeOrLook[],
    counters: Counters,
    nowMs: number,
    done: Done<readonly Verdict[]>,
  ): void
  refund(key: string, refund: Refund, counters: Counters, nowMs: number, done: Done<number>): void
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
  function count(key: string, one: Ask, done: Done<number>): void {
    ask(key, one, (answer) => done(answer instanceof StoreError ? answer : countIn(one, answer)))
  }

  function giveBack(key: string, counter: string, units: number): void {
    if (units === 0) return
    count(key, decrement(counter, units), (outcome) => {
      if (outcome instanceof StoreError) tellNotGivenBack(outcome)
    })
  }

  /** Finds the counts of the slices before this one, the newest first: those that are known, and asks for the others. */
  function countOlder(
    key: string,
    slice: number,
    { older, keyOf }: Counters,
    done: Done<readonly number[]>,
  ): void {
    const counts = past.before(key, slice, older)
    let open = counts.filter((known) => known === undefined).length
    if (open === 0) done(counts as number[])
    counts.forEach((known, i) => {
      if (known !== undefined) return
      count(key, get(keyOf(key, slice - 1 - i)), (outcome) => {
        if (outcome instanceof StoreError) done(outcome)
        else counts[i] = outcome
        if (--open === 0 && !counts.includes(undefined)) done(counts as number[])
      })
    })
  }

  function keepPast(
    key: string,
    slice: number,
    counts: readonly number[],
    { sliceAt }: Counters,
    nowMs: number,
  ): void {
    past.keep(key, slice, sliceAt(nowMs - SETTLED_MS) - 1, counts)
  }

  function run(
    key: string,
    works: readonly ChargeOrLook[],
    counters: Counters,
    nowMs: number,
    done: Done<readonly Verdict[]>,
  ): void {
    const slice = counters.sliceAt(nowMs)
    const counter = counters.keyOf(key, slice)
    const amount = wantedBy(works)
    let sum: number | StoreError | undefined
    let older: readonly number[] | StoreError | undefined = counters.older === 0 ? [] : undefined

    function finish(): void {
      if (sum === undefined || older === undefined) return
      if (sum instanceof StoreError) {
        done(sum)
        return
      }
      if (older instanceof StoreError) {
        giveBack(key, counter, amount)
        done(older)
        return
      }
      if (counters.older > 0) keepPast(key, slice, older, counters, nowMs)
      const state = counters.stateOf(slice, [sum - amount, ...older])
      const verdicts = workOn(state, works, nowMs).results as Verdict[]
      giveBack(key, counter, amount - takenBy(works, verdicts))
      done(verdicts)
    }

    const one = amount > 0 ? increment(counter, amount, counters.expirationAt(nowMs)) : get(counter)
    count(key, one, (outcome) => {
      sum = outcome
      finish()
    })
    if (counters.older === 0) return
    countOlder(key, slice, counters, (outcome) => {
      if (older !== undefined) return
      older = outcome
      finish()
    })
  }

  function refund(
    key: string,
    { cost, takenAtMs }: Refund,
    counters: Counters,
    nowMs: number,
    done: Done<number>,
  ): void {
    const slice = counters.sliceAt(nowMs)
    const takenIn = counters.sliceAt(takenAtMs)
    const isOver = takenIn > slice || takenIn < slice - counters.older
    if (takenIn < slice) past.forget(key)
    if (cost === 0 || isOver) done(0)
    else count(key, decrement(counters.keyOf(key, takenIn), cost), done)
  }

  async function forget(key: string, { sliceAt, older, keyOf }: Counters, nowMs: number): Promise<void> {
    const slice = sliceAt(nowMs)
    past.forget(key)
    const slices = Array.from({ length: older + 2 }, (_, i) => slice + 1 - i) // the next one for a clock that is ahead
    const answers = slices.map(async (each) => {
      const one = remove(keyOf(key, each))
      const outcome = countIn(one, await askAlone(ask, key, one))
      if (outcome instanceof StoreError) throw outcome
    })
    await Promise.all(answers)
  }

  return { run, refund, forget }
}

/** What is counted for charges: all that may be allowed, and no more than may be allowed in all. */
function wantedBy(works: readonly ChargeOrLook[]): number {
  let wanted = 0
  let limit = 0
  for (const work of works) {
    if (!('charge' in work)) continue
    limit = (work.charge[0] as Part).policy.limit
    const cost = costOf(work.charge)
    if (cost <= limit) wanted += cost
  }
  return Math.min(limit, wanted)
}

function takenBy(works: readonly ChargeOrLook[], verdicts: readonly Verdict[]): number {
  let taken = 0
  works.forEach((work, i) => {
    if ('charge' in work && verdicts[i]?.allowed) taken += costOf(work.charge)
  })
  return taken
}

function costOf(charge: Charge): number {
  return charge.reduce((sum, { cost }) => sum + cost, 0)
}

/** Counts and takings are answered by 8 bytes, reads by the digits as memcached keeps them. */
function countIn(one: Ask, reply: MemcachedReply): number | StoreError {
  const { header, val, extras } = reply
  if (header.status === STATUS.notFound) return 0
  if (header.status !== STATUS.ok) return refusal(one, reply)
  if (one.extras !== undefined) return 0x100000000 * val.readUInt32BE(0) + val.readUInt32BE(4)
  if (val.length === 0 && extras.length === 0) return 0 // removed
  const text = val.toString('latin1').trimEnd()
  return extras.readUInt32BE(0) === 0 && /^\d{1,20}$/.test(text) ? Number(text) : foreignItem(one.key)
}
