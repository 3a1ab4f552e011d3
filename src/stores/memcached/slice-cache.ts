import type { MaybePromise } from '../../util/maybe-promise.js'
import { RecentMap } from '../../util/recent-map.js'
import type { CounterIo } from './counter-io.js'
import type { Counters, OtherSlices } from './counters.js'

/** Keys whose past slices are cached, at least. */
const MIN_KEYS = 100_000
/** How far a process's clock may be ahead or behind, and so count in a slice before or after its time. */
export const CLOCK_TOLERANCE_MS = 1000
/** Denials from counts older than this are checked against fresh ones. */
const MAX_TRUSTED_MS = 10_000

const NO_SLICES: OtherSlices = { next: 0, older: [], isStale: false }

interface CachedSlices {
  readonly readAtMs: number
  readonly newest: number
  /** The counts of `newest` and of the slices before it. */
  readonly counts: readonly number[]
}

/** Caches the counts of past slices. */
export type SliceCache = ReturnType<typeof sliceCache>

/** Creates a cache of the counts of past slices, which only fall, by a refund or a `forget`. */
export function sliceCache(io: CounterIo) {
  let byKey = new RecentMap<CachedSlices>(MIN_KEYS)
  let latestMs = 0
  /** Keeps counts that were requested before an invalidation from being cached after it. */
  let invalidations = 0

  function invalidate(key: string): void {
    byKey.delete(key)
    invalidations++
  }

  /** Returns the counts around the present slice: as a value if all are cached. */
  function read(key: string, counters: Counters, nowMs: number): MaybePromise<OtherSlices> {
    const { older, sliceAt } = counters
    if (older === 0) return NO_SLICES
    if (nowMs < latestMs) {
      // While the clock was ahead, it may have taken slices for past in which others still count.
      byKey = new RecentMap(MIN_KEYS)
      invalidations++
    }
    latestMs = nowMs
    const present = sliceAt(nowMs)
    const cached = byKey.get(key)
    const isStale = cached !== undefined && nowMs - cached.readAtMs > MAX_TRUSTED_MS
    const hasNext = sliceAt(nowMs + CLOCK_TOLERANCE_MS) > present
    if (!hasNext && cached?.newest === present - 1 && cached.counts.length === older) {
      return { next: 0, older: cached.counts, isStale }
    }
    return readMissing(key, counters, nowMs, cached, isStale)
  }

  /**
   * Also reads the slices that begin within a second: a process that counts there and then reads the present
   * slice may miss what is being counted here, so its count must be seen here.
   */
  async function readMissing(
    key: string,
    { older, sliceAt, keyOf }: Counters,
    nowMs: number,
    cached: CachedSlices | undefined,
    isStale: boolean,
  ): Promise<OtherSlices> {
    const invalidationsBefore = invalidations
    const present = sliceAt(nowMs)
    const ahead = Math.min(older, sliceAt(nowMs + CLOCK_TOLERANCE_MS) - present)
    const readSlice = (slice: number) => io.read(key, keyOf(key, slice))
    const [next, past] = await Promise.all([
      Promise.all(Array.from({ length: ahead }, (_, i) => readSlice(present + 1 + i))),
      Promise.all(
        Array.from({ length: older }, (_, i) => {
          const slice = present - 1 - i
          return cached?.counts[cached.newest - slice] ?? readSlice(slice)
        }),
      ),
    ])
    const newestPast = sliceAt(nowMs - CLOCK_TOLERANCE_MS) - 1
    if (invalidations === invalidationsBefore && cached?.newest !== newestPast) {
      const readAtMs = cached?.readAtMs ?? nowMs
      byKey.set(key, { readAtMs, newest: newestPast, counts: past.slice(present - 1 - newestPast) })
    }
    return { next: next.reduce((sum, count) => sum + count, 0), older: past, isStale }
  }

  return { read, invalidate }
}
