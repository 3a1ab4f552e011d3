import { StoreError } from '../../errors.js'
import type { Charge, Part, Refund, Verdict } from '../store.js'
import type { Counters } from './counters.js'
import { type ChargeOrLook, policyOf, workOn } from './key-work.js'
import { askAlone, type Link } from './link.js'
import type { MemcachedReply } from './memcached-client.js'
import { tellNotGivenBack } from './not-given-back.js'
import { PastSlices, SETTLED_MS } from './past-slices.js'
import { foreignItem, refusal } from './refusal.js'
import { type Ask, decrement, get, increment, remove, STATUS } from './wire.js'

/** How often a counter that others make at the same time is asked for. */
const MAX_ATTEMPTS = 10

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
 *
 * Near the end of a slice the next one is read as well: whoever counts there first and then reads this slice may not see what is
 * counted here now, but then it is seen here what was counted there.
 */
export function counting(ask: Link): Counting {
  const past = new PastSlices()

  /** Asks for a count, which is 0 where there is no counter. */
  function count(key: string, one: Ask, done: Done<number>): void {
    ask(key, one, (answer) => done(answer instanceof StoreError ? answer : countIn(one, answer)))
  }

  /**
   * Counts, and tells what others had counted before. Where several processes make a counter at the same time, memcached says to all but
   * one that it has not counted, so they ask again.
   */
  function countUp(key: string, one: Ask, amount: number, done: Done<number>, attempt = 1): void {
    ask(key, one, (answer) => {
      if (answer instanceof StoreError) done(answer)
      else if (answer.header.status !== STATUS.notStored) done(countIn(one, answer, amount))
      else if (attempt < MAX_ATTEMPTS) countUp(key, one, amount, done, attempt + 1)
      else done(refusal(one, answer))
    })
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
    nowMs: number,
    done: Done<readonly number[]>,
  ): void {
    const counts = past.before(key, slice, older, nowMs)
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
    past.keep(key, slice, sliceAt(nowMs - SETTLED_MS) - 1, counts, nowMs)
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
    let before: number | StoreError | undefined
    let older: readonly number[] | StoreError | undefined = counters.older === 0 ? [] : undefined
    const mayBeLate = counters.older > 0 && counters.sliceAt(nowMs + SETTLED_MS) > slice
    let next: number | StoreError | undefined = mayBeLate ? undefined : 0

    function finish(): void {
      if (before === undefined || older === undefined || next === undefined) return
      if (before instanceof StoreError) {
        done(before)
        return
      }
      if (older instanceof StoreError || next instanceof StoreError) {
        giveBack(key, counter, amount)
        done(older instanceof StoreError ? older : (next as StoreError))
        return
      }
      if (counters.older > 0) keepPast(key, slice, older, counters, nowMs)
      const { limit } = policyOf(works[0] as ChargeOrLook)
      const state = counters.stateOf(slice, [Math.min(before + next, limit), ...older])
      const verdicts = (workOn(state, works, nowMs).results as Verdict[]).map(sound)
      giveBack(key, counter, amount - takenBy(works, verdicts))
      done(verdicts)
    }

    const onCounted: Done<number> = (outcome) => {
      before = outcome
      finish()
    }
    if (amount === 0) count(key, get(counter), onCounted)
    else countUp(key, increment(counter, amount, counters.expirationAt(nowMs)), amount, onCounted)
    if (counters.older === 0) return
    if (mayBeLate) {
      count(key, get(counters.keyOf(key, slice + 1)), (outcome) => {
        next = outcome
        finish()
      })
    }
    countOlder(key, slice, counters, nowMs, (outcome) => {
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

/** What others have counted and not yet given back may be above the limit for a moment; nothing less than nothing is left. */
function sound(verdict: Verdict): Verdict {
  if (verdict.parts.every(({ remaining }) => remaining >= 0)) return verdict
  return {
    ...verdict,
    parts: verdict.parts.map((part) => ({ ...part, remaining: Math.max(0, part.remaining) })),
  }
}

/** Counts and takings are answered by 8 bytes, reads by the digits as memcached keeps them. */
function countIn(one: Ask, reply: MemcachedReply, minus = 0): number | StoreError {
  const { header, val, extras } = reply
  if (header.status === STATUS.notFound) return 0
  if (header.status !== STATUS.ok) return refusal(one, reply)
  if (one.extras !== undefined) return Number(val.readBigUInt64BE(0) - BigInt(minus)) // sums may be above 2^53
  if (val.length === 0 && extras.length === 0) return 0 // removed
  const text = val.toString('latin1').trimEnd()
  const isCount = extras.readUInt32BE(0) === 0 && /^\d{1,16}$/.test(text)
  return isCount ? Number(text) : foreignItem(one.key)
}
