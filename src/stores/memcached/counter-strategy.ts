import type { Refund } from '../store.js'
import { StoreError } from '../store-error.js'
import { type Counted, decideOn, isDenial, takenBy, wantedBy } from './counted.js'
import { askCount, countIn, type Done } from './counter-io.js'
import type { Counters } from './counters.js'
import { refusal } from './errors.js'
import type { Watch } from './eviction-canary.js'
import { askAlone, type Link } from './link.js'
import { tellNotGivenBack } from './not-given-back.js'
import type { ChargeOrLook, Result } from './operations.js'
import { SETTLED_MS } from './past-slices.js'
import { type Ask, decrement, get, increment, remove, STATUS } from './protocol.js'
import { type Neighbours, neighbourSlices } from './slice-cache.js'

/** How often a counter is asked for that others make, or read, at the same time. */
const MAX_ATTEMPTS = 30
/** So many of them at once: who makes it is soon done. The others wait, for a second in all: a server that is short of processors may be long about a reading. */
const MAX_AT_ONCE = 10
const MAX_WAIT_MS = 64
/** memcached 1.6.18 does not take an increment for use, and so would evict busy counters like idle ones: one charge in so many reads. */
const READ_ONE_IN = 16
const QUIET_MS = 60_000

/** Counts by the policies that count. */
export interface Counting {
  /** Decides charges and looks of one key, in order. */
  run(
    key: string,
    works: readonly ChargeOrLook[],
    counters: Counters,
    nowMs: number,
    done: Done<readonly Result[]>,
  ): void
  refund(key: string, refund: Refund, counters: Counters, nowMs: number, done: Done<number>): void
  forget(key: string, counters: Counters, nowMs: number): Promise<void>
}

/**
 * Counts first and gives back what was denied, so that whatever others count meanwhile, never more than a limit is admitted.
 * What several charges want is counted in one step, and what others have counted before it decides. For as long as it takes to give
 * back, others may be denied for it.
 */
export function counting(ask: Link, watch: Watch): Counting {
  const neighbours = neighbourSlices(ask)
  /** Until then nothing is read along: a server that has no room evicts nothing, and an item that is being read cannot be counted in place. */
  let quietUntilMs = 0

  /**
   * Counts, and tells what others had counted before. Where several processes make a counter at the same time, memcached says to all but
   * one that it has not counted, so they ask again.
   */
  function countUp(key: string, one: Ask, added: number, done: Done<Counted>, attempt = 1): void {
    const again = () => soon(() => countUp(key, one, added, done, attempt + 1), attempt)
    ask(key, one, (answer) => {
      if (answer instanceof StoreError) done(answer)
      else if (answer.header.status === STATUS.noMemory) {
        quietUntilMs = Date.now() + QUIET_MS
        withoutRoom(key, one, added, refusal(one, answer), done, attempt < MAX_ATTEMPTS ? again : undefined)
      } else if (answer.header.status !== STATUS.notStored) done(counted(countIn(one, answer, added), added))
      else if (attempt < MAX_ATTEMPTS) again()
      else done(refusal(one, answer))
    })
  }

  /**
   * A number that gets longer takes a new item. Where there is no room for it, what stands there can still deny. One that does not is
   * counted in place, unless it is being read at this moment.
   */
  function withoutRoom(
    key: string,
    { key: counter }: Ask,
    added: number,
    noRoom: StoreError,
    done: Done<Counted>,
    again: (() => void) | undefined,
  ): void {
    askCount(ask, key, get(counter), (before) => {
      if (before instanceof StoreError) done(before)
      else if (again && before > 0 && String(before).length === String(before + added).length) again()
      else done({ before, added: 0, noRoom })
    })
  }

  function countWanted(
    key: string,
    counter: string,
    wanted: number,
    expiration: number,
    done: Done<Counted>,
  ): void {
    if (wanted === 0) {
      askCount(ask, key, get(counter), (before) => done(counted(before, 0)))
      return
    }
    countUp(key, increment(counter, wanted, expiration), wanted, done)
    if (Date.now() > quietUntilMs && Math.random() * READ_ONE_IN < 1) ask(key, get(counter), () => undefined)
  }

  function giveBack(key: string, counter: string, units: number): void {
    if (units === 0) return
    countDown(key, decrement(counter, units), (outcome) => {
      if (outcome instanceof StoreError) tellNotGivenBack(outcome)
    })
  }

  /** Gives units back; again where memcached has no room for that, since the counter is being read at this moment. */
  function countDown(key: string, one: Ask, done: Done<number>, attempt = 1): void {
    ask(key, one, (answer) => {
      if (answer instanceof StoreError) done(answer)
      else if (answer.header.status !== STATUS.noMemory || attempt === MAX_ATTEMPTS)
        done(countIn(one, answer))
      else soon(() => countDown(key, one, done, attempt + 1), attempt)
    })
  }

  function run(
    key: string,
    works: readonly ChargeOrLook[],
    counters: Counters,
    nowMs: number,
    done: Done<readonly Result[]>,
  ): void {
    const slice = counters.sliceAt(nowMs)
    const counter = counters.keyOf(key, slice)
    let own: Counted | StoreError | undefined
    let around: Neighbours | StoreError | undefined

    countWanted(key, counter, wantedBy(works), counters.expirationAt(nowMs), (outcome) => {
      own = outcome
      finish()
    })
    findAround()

    function findAround(): void {
      neighbours.find(key, counters, nowMs, (outcome) => {
        around = outcome
        finish()
      })
    }

    function finish(): void {
      if (own === undefined || around === undefined) return
      if (own instanceof StoreError || around instanceof StoreError) {
        if (!(own instanceof StoreError)) giveBack(key, counter, own.added)
        done(own instanceof StoreError ? own : (around as StoreError))
        return
      }
      const results = decideOn(works, counters, slice, own, around, nowMs)
      if (around.areOld && results.some(isDenial)) {
        neighbours.forget(key)
        around = undefined
        findAround()
        return
      }
      watch(key, counter.length + String(own.before + own.added).length)
      giveBack(key, counter, own.added - takenBy(works, results))
      done(results)
    }
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
    if (cost === 0 || isOver) {
      done(0)
      return
    }
    countDown(key, decrement(counters.keyOf(key, takenIn), cost), (outcome) => {
      if (takenIn < slice) neighbours.forget(key)
      done(outcome)
    })
  }

  async function forget(key: string, { sliceAt, older, keyOf }: Counters, nowMs: number): Promise<void> {
    const first = sliceAt(nowMs) - older
    const last = Math.min(sliceAt(nowMs) + Math.max(1, older), sliceAt(nowMs + SETTLED_MS) + 1) // for a clock that is ahead
    const slices = Array.from({ length: last - first + 1 }, (_, i) => first + i)
    const answers = slices.map(async (each) => {
      const one = remove(keyOf(key, each))
      const outcome = countIn(one, await askAlone(ask, key, one))
      if (outcome instanceof StoreError) throw outcome
    })
    await Promise.allSettled(answers)
    neighbours.forget(key)
    await Promise.all(answers)
  }

  return { run, refund, forget }
}

/** Tries again: at once for the first attempts, and later after a wait that doubles. */
function soon(again: () => void, attempt: number): void {
  if (attempt < MAX_AT_ONCE) again()
  else setTimeout(again, Math.min(2 ** (attempt - MAX_AT_ONCE), MAX_WAIT_MS))
}

function counted(before: number | StoreError, added: number): Counted | StoreError {
  return before instanceof StoreError ? before : { before, added }
}
