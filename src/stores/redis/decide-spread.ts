import { StoreError } from '../../errors.js'
import { groupBy } from '../../group-by.js'
import { warnOnce } from '../../warn-once.js'
import type { Charge, Part, PartVerdict, Refund, Verdict } from '../store.js'
import type { Courier } from './courier.js'
import { runScript } from './run-script.js'
import { LOOKING, REFUNDING, TAKING } from './work.js'

/** The parts of a charge whose keys share a place. */
interface Leg {
  readonly charge: Charge
  /** Where in the whole charge these parts stand. */
  readonly positions: readonly number[]
  verdict: Verdict | undefined
}

/** A charge on its way from place to place. */
interface Trip {
  readonly legs: readonly Leg[]
  /** Why it ended early. */
  end: 'denied' | StoreError | undefined
}

/**
 * Decides charges whose keys may live in several places, where no script can see them all. A charge goes from place to
 * place, in the order of its parts, and takes at each what it wants there, all or nothing. Where one denies, what was taken
 * before is given back.
 *
 * So never more than a limit is admitted. But while a charge is on its way, up to its cost may be taken that it then gives
 * back, and others may be denied for that meanwhile. Where giving back fails, it stays taken until it is refilled.
 */
export async function decideSpread(
  courier: Courier,
  placeOf: (key: string) => number,
  charges: readonly Charge[],
): Promise<(Verdict | StoreError)[]> {
  const trips = charges.map((charge) => tripOf(charge, placeOf))
  const longest = Math.max(...trips.map(({ legs }) => legs.length))
  for (let i = 0; i < longest; i++) await takeLegs(courier, trips, i)
  await giveBack(courier, trips)
  await lookAtOthers(courier, trips)
  return trips.map(outcomeOf)
}

function tripOf(charge: Charge, placeOf: (key: string) => number): Trip {
  const byPlace = groupBy(charge.keys(), (i) => placeOf((charge[i] as Part).key))
  const legs = Array.from(byPlace.values(), (positions): Leg => {
    return { charge: positions.map((i) => charge[i] as Part), positions, verdict: undefined }
  })
  return { legs, end: undefined }
}

/** Lets all trips that go on take their leg number `i`. */
async function takeLegs(courier: Courier, trips: readonly Trip[], i: number): Promise<void> {
  const going = trips.filter(({ legs, end }) => end === undefined && i < legs.length)
  const charges = going.map(({ legs }) => (legs[i] as Leg).charge)
  const verdicts = await runScript(courier, TAKING, charges)
  going.forEach((trip, at) => {
    const verdict = verdicts[at] as Verdict | StoreError
    if (verdict instanceof StoreError) {
      trip.end = verdict
      return
    }
    ;(trip.legs[i] as Leg).verdict = verdict
    if (!verdict.allowed) trip.end = 'denied'
  })
}

/** Gives back what trips that ended early took before. */
async function giveBack(courier: Courier, trips: readonly Trip[]): Promise<void> {
  const refunds = trips.filter(({ end }) => end !== undefined).flatMap(({ legs }) => legs.flatMap(refundsOf))
  if (refunds.length === 0) return
  const results = await runScript(courier, REFUNDING, refunds)
  const failure = results.find((result) => result instanceof StoreError)
  if (failure === undefined) return
  warnOnce(
    'HEADGATE_REDIS_NOT_GIVEN_BACK',
    'headgate: a charge over several slots was denied, and what it had taken before could not be given back. It stays ' +
      `taken until it is refilled. (${failure.message})`,
  )
}

function refundsOf({ charge, verdict }: Leg): Refund[] {
  if (!verdict?.allowed) return []
  const { atMs, parts } = verdict
  return charge.map((part, i) => {
    return { ...part, takenAtMs: atMs, resetAtMs: atMs + (parts[i] as PartVerdict).resetAfterMs }
  })
}

/** Asks for the figures of what denied trips gave back and of what they never came to. */
async function lookAtOthers(courier: Courier, trips: readonly Trip[]): Promise<void> {
  const denied = trips.filter(({ end }) => end === 'denied')
  const others = denied.flatMap(({ legs }) => legs.filter(({ verdict }) => verdict?.allowed !== false))
  if (others.length === 0) return
  const verdicts = await runScript(
    courier,
    LOOKING,
    others.map(({ charge }) => charge),
  )
  others.forEach((leg, i) => {
    const verdict = verdicts[i] as Verdict | StoreError
    leg.verdict = verdict instanceof StoreError ? asIfFresh(leg.charge) : verdict
  })
}

/** Of a place that does not answer no figures are known; that the charge is denied is known all the same. */
function asIfFresh(charge: Charge): Verdict {
  const parts = charge.map(({ policy }) => policy.take(undefined, 0, 0))
  return { allowed: true, atMs: 0, parts }
}

function outcomeOf({ legs, end }: Trip): Verdict | StoreError {
  if (end instanceof StoreError) return end
  const parts: PartVerdict[] = []
  for (const { positions, verdict } of legs) {
    positions.forEach((position, i) => {
      parts[position] = verdict?.parts[i] as PartVerdict
    })
  }
  return { allowed: end === undefined, atMs: legs[0]?.verdict?.atMs ?? 0, parts }
}
