import type { ClientDemand } from './client-demand.js'
import { clientsIn, peakAt } from './peaks.js'

/**
 * Two neighbouring peaks are a gap apart if the larger is more than this many times the smaller. One client may
 * be far above the others by chance, but hardly several.
 */
const GAP_OF_ONE = 4
const GAP_OF_SEVERAL = 2.5
/** Added to the smaller peak: small counts differ by chance, and a few people may share an address. */
const SLACK = 10
/** Without a gap, clients with this many times the median are set apart: that of the larger plan, if there are two. */
const TIMES_MEDIAN = 100
/** At most this share of the clients is set apart, though one client always may be. */
const MAX_APART = 0.05
/** This many clients must stay, or there is no crowd that the others could be apart from. */
const MIN_CROWD = 5
/** A group above a gap is set apart, however many they are, if the limit in force denied this share of it. */
const MOSTLY_DENIED = 0.8

/** Why clients were set apart from the crowd. */
export type ApartBecause = 'gap' | 'median' | 'denied'

/** The clients of a limit, in two or three parts. Each is sorted by peak, the smallest first. */
export interface Crowd {
  /** The clients that a limit should let pass. */
  readonly crowd: readonly ClientDemand[]
  /** The clients whose demand is out of all proportion, such as scrapers. */
  readonly apart: readonly ClientDemand[]
  readonly because: ApartBecause | undefined
  /**
   * The upper part of the crowd, if a gap divides it and both parts are large: perhaps two plans, perhaps an
   * attack by many.
   */
  readonly upper: readonly ClientDemand[]
}

/** Where a list is divided: the index of the first client above a gap, and how wide it is. */
interface Gap {
  readonly at: number
  readonly ratio: number
}

/**
 * Divides sorted demands into the crowd and the clients apart from it: those above the widest gap, or else
 * those with 100 times the median. Only a few are set apart, since a limit that suits the rest denies them:
 * a larger group above a gap may be customers with another plan, so it stays in the crowd, unless the limit
 * in force denies it already.
 */
export function divide(sorted: readonly ClientDemand[]): Crowd {
  const mayBeApart = smallTail(sorted)
  const gaps = gapsOf(sorted)
  const denied = widest(
    gaps.filter(({ at }) => at < mayBeApart && isLarge(sorted, at) && isDenied(sorted, at)),
  )
  if (denied !== undefined) return withGroups(sorted, denied.at, 'denied')
  const gap = widest(gaps.filter(({ at }) => at >= mayBeApart))
  if (gap !== undefined) return withGroups(sorted, gap.at, 'gap')
  const whole = withGroups(sorted, sorted.length, undefined)
  const many = TIMES_MEDIAN * peakAt(whole.upper.length > 0 ? whole.upper : sorted, 0.5)
  const at = sorted.findIndex(({ peak }) => peak >= many)
  return at >= mayBeApart ? withGroups(sorted, at, 'median') : whole
}

function withGroups(sorted: readonly ClientDemand[], at: number, because: ApartBecause | undefined): Crowd {
  const crowd = sorted.slice(0, at)
  const between = widest(gapsOf(crowd).filter((gap) => gap.at < smallTail(crowd) && isLarge(crowd, gap.at)))
  return { crowd, apart: sorted.slice(at), because, upper: between ? crowd.slice(between.at) : [] }
}

/** Returns where the tail of so few clients begins that they may be set apart. */
function smallTail(sorted: readonly ClientDemand[]): number {
  const total = clientsIn(sorted)
  const most = Math.min(Math.max(1, MAX_APART * total), total - MIN_CROWD)
  let [at, above] = [sorted.length, 0]
  while (at > 0 && above + (sorted[at - 1]?.weight ?? 0) <= most) above += sorted[--at]?.weight ?? 0
  return at
}

/** Returns whether the clients below a gap are many enough to be a group. */
function isLarge(sorted: readonly ClientDemand[], at: number): boolean {
  const below = clientsIn(sorted.slice(0, at))
  return below >= MIN_CROWD && below >= MAX_APART * clientsIn(sorted)
}

/** Returns whether the clients above a gap are a minority that the limit in force denies. */
function isDenied(sorted: readonly ClientDemand[], at: number): boolean {
  const above = sorted.slice(at)
  const clients = clientsIn(above)
  const denied = clientsIn(above.filter(({ wasDenied }) => wasDenied))
  return clients < clientsIn(sorted) / 2 && denied >= MOSTLY_DENIED * clients
}

function gapsOf(sorted: readonly ClientDemand[]): readonly Gap[] {
  return sorted.flatMap(({ peak, weight }, at) => {
    const below = sorted[at - 1]
    if (below === undefined) return []
    const ratio = peak / (below.peak + SLACK)
    const isOne = at === sorted.length - 1 && weight <= 1
    return ratio > (isOne ? GAP_OF_ONE : GAP_OF_SEVERAL) ? [{ at, ratio }] : []
  })
}

function widest(gaps: readonly Gap[]): Gap | undefined {
  return gaps.reduce<Gap | undefined>(
    (best, gap) => (best && best.ratio >= gap.ratio ? best : gap),
    undefined,
  )
}
