import { groupBy } from '../../util/group-by.js'
import type { Charge, Part, PartVerdict, Refund, Store, Verdict } from '../store.js'
import { KeyCounts } from './key-counts.js'
import { refundsOf } from './refunds.js'

/** The parts of a charge whose keys share a place, and where in the whole charge they stand. */
interface Leg {
  readonly charge: Charge
  readonly positions: readonly number[]
}

/** What a store can do with charges whose keys share a place. */
export interface Places {
  placeOf(key: string): unknown
  take(charges: readonly Charge[]): Promise<readonly Verdict[]>
  /** Takes nothing, and tells what the charges would find. */
  look(charges: readonly Charge[]): Promise<readonly Verdict[]>
  refund: Store['refund']
  /** Tells that what a charge took before it was denied or failed could not be given back. */
  onNotGivenBack(reason: unknown): void
}

/**
 * Decides charges whose keys may live in several places, where nothing sees them all. A charge goes from place to place, in
 * the order of its parts, and takes at each what it wants there, all or nothing. Where one denies, or does not answer, what was
 * taken before is given back.
 *
 * So never more than a limit is admitted. But while a charge is on its way, up to its cost may be taken that it then gives
 * back, and others may be denied for that meanwhile. Where giving back fails, it stays taken until it is refilled.
 */
export function spreadCharges(places: Places): (charges: readonly Charge[]) => Promise<readonly Verdict[]> {
  const underWay = new KeyCounts()

  /** A charge of one place may be denied for what one that is on its way through several is about to give back. */
  async function takeBesideOthers(charges: readonly Charge[]): Promise<readonly Verdict[]> {
    const isDoubtful = charges.map((charge) => underWay.hasAny(charge)) // what sets out later comes later
    const verdicts = await places.take(charges)
    return verdicts.map((verdict, i) =>
      verdict.allowed || !isDoubtful[i] ? verdict : { ...verdict, isTentative: true },
    )
  }

  async function takeAtSeveral(charge: Charge, legs: readonly Leg[]): Promise<Verdict> {
    underWay.add(charge)
    try {
      return await goThrough(legs, places)
    } finally {
      underWay.remove(charge)
    }
  }

  return (charges) => {
    const legs = charges.map((charge) => legsOf(charge, places))
    if (legs.every(({ length }) => length === 1)) {
      return underWay.isEmpty ? places.take(charges) : takeBesideOthers(charges)
    }
    return Promise.all(charges.map((charge, i) => takeAtSeveral(charge, legs[i] as Leg[])))
  }
}

function legsOf(charge: Charge, { placeOf }: Places): Leg[] {
  if (charge.length === 1) return [{ charge, positions: [0] }]
  const byPlace = groupBy(charge.keys(), (i) => placeOf((charge[i] as Part).key))
  return Array.from(byPlace.values(), (positions): Leg => {
    return { charge: positions.map((i) => charge[i] as Part), positions }
  })
}

async function goThrough(legs: readonly Leg[], places: Places): Promise<Verdict> {
  const verdicts: Verdict[] = []
  const taken: Refund[] = []
  for (const { charge } of legs) {
    const verdict = await takeLeg(charge, places, taken)
    verdicts.push(verdict)
    if (!verdict.allowed) return deny(legs, verdicts, taken, places)
    taken.push(...refundsOf(charge, verdict))
  }
  return {
    allowed: true,
    atMs: verdicts[0]?.atMs ?? 0,
    parts: inOrderOfCharge(legs, verdicts.map(withOwnTimes)),
  }
}

/** Each part carries the time at which its place took it: a window may have ended between two places. */
function withOwnTimes(verdict: Verdict): Verdict {
  return { ...verdict, parts: verdict.parts.map((part) => ({ ...part, atMs: verdict.atMs })) }
}

async function takeLeg(charge: Charge, places: Places, taken: readonly Refund[]): Promise<Verdict> {
  try {
    const [verdict] = await places.take([charge])
    return verdict as Verdict
  } catch (error) {
    await giveBack(taken, places)
    throw error
  }
}

async function giveBack(taken: readonly Refund[], places: Places): Promise<void> {
  if (taken.length === 0) return
  try {
    await places.refund(taken)
  } catch (reason) {
    places.onNotGivenBack(reason)
  }
}

/** The figures of a denied charge are those of the leg that denied, and how the others stand when all is given back. */
async function deny(
  legs: readonly Leg[],
  verdicts: readonly Verdict[],
  taken: readonly Refund[],
  places: Places,
): Promise<Verdict> {
  await giveBack(taken, places)
  const deniedAt = verdicts.length - 1
  const denied = verdicts[deniedAt] as Verdict
  const all = await Promise.all(legs.map((leg, i) => (i === deniedAt ? denied : lookAt(leg, places))))
  return { allowed: false, isTentative: true, atMs: denied.atMs, parts: inOrderOfCharge(legs, all) }
}

/** Of a place that does not answer no figures are known; that the charge is denied is known all the same. */
async function lookAt({ charge }: Leg, places: Places): Promise<Verdict> {
  try {
    const [verdict] = await places.look([charge])
    return verdict as Verdict
  } catch {
    return { allowed: true, atMs: 0, parts: charge.map(({ policy }) => policy.take(undefined, 0, 0)) }
  }
}

function inOrderOfCharge(legs: readonly Leg[], verdicts: readonly Verdict[]): PartVerdict[] {
  const parts: PartVerdict[] = []
  legs.forEach(({ positions }, at) => {
    positions.forEach((position, i) => {
      parts[position] = verdicts[at]?.parts[i] as PartVerdict
    })
  })
  return parts
}
