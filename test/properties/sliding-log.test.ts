import fc from 'fast-check'
import { type Policy, slidingLog } from 'headgate'
import type { State } from 'headgate/store'
import { type LogNumbers, PlainLog } from './plain-log.js'

/** What happens next to a key. Waits and steps of the clock are in windows. */
interface Event {
  readonly kind: 'charge' | 'refund' | 'reward'
  readonly wait: number
  /** How far the clock steps back before. */
  readonly back: number
  readonly units: number
  /** Which of the charges so far is refunded. */
  readonly which: number
}

const share = (max: number) => fc.integer({ min: 0, max: 4096 }).map((n) => (n / 4096) * max)
const never = fc.constant(0)
const sometimes = fc.oneof(
  { weight: 9, arbitrary: never },
  { weight: 1, arbitrary: fc.oneof(share(0.1), share(3), share(300)) },
)

function eventsWith(back: fc.Arbitrary<number>, ...others: readonly Event['kind'][]): fc.Arbitrary<Event[]> {
  const event = fc.record<Event>({
    kind: fc.oneof(
      { weight: 2, arbitrary: fc.constant('charge' as const) },
      { weight: 1, arbitrary: fc.constantFrom(...others) },
    ),
    wait: fc.oneof(fc.constant(0), share(0.02), share(0.5), share(3)),
    back,
    units: fc.oneof(fc.nat(3), fc.nat(14)),
    which: fc.nat(),
  })
  return fc.array(event, { maxLength: 80, size: 'max' })
}

const numbersWith = (maxMs: number) =>
  fc.record<LogNumbers>({
    limit: fc.integer({ min: 1, max: 12 }),
    windowMs: fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: maxMs })),
  })
/** Short windows, those of hours, and up to ten years. */
const anyNumbers = fc.oneof(numbersWith(100_000), numbersWith(2 ** 26), numbersWith(315_576_000_000))
const shortNumbers = numbersWith(100_000)
/** Times are quarters of a millisecond, which doubles add exactly. */
const start = fc.integer({ min: 0, max: 8e12 }).map((quarters) => quarters / 4)
const inQuarters = (ms: number) => Math.round(ms * 4) / 4

const logOf = ({ limit, windowMs }: LogNumbers) => slidingLog({ limit, window: `${windowMs}ms` })

/** What a charge took and has not been given back. */
interface Taken {
  readonly takenAtMs: number
  units: number
}

/** A key of one policy, on a clock that may step back, and the same key as a plain log. */
class World {
  readonly policy: Policy
  readonly plain = new PlainLog()
  readonly charges: Taken[] = []
  state: State | undefined
  trueMs = 0
  behindMs = 0

  constructor(
    readonly numbers: LogNumbers,
    readonly startMs: number,
  ) {
    this.policy = logOf(numbers)
  }

  get nowMs(): number {
    return this.startMs + this.trueMs - this.behindMs
  }

  pass({ wait, back }: Event): void {
    this.trueMs += inQuarters(wait * this.policy.windowMs)
    this.behindMs += inQuarters(back * this.policy.windowMs)
  }

  /** Does to the key what an event says, and returns its figures. */
  run({ kind, units, which }: Event) {
    const { policy, state, nowMs } = this
    const receipt = this.charges[which % Math.max(1, this.charges.length)]
    if (kind === 'reward') this.state = state && policy.reward(state, nowMs, units)
    else if (kind === 'refund' && receipt !== undefined)
      this.state = state && policy.refund(state, nowMs, Math.min(units, receipt.units), receipt.takenAtMs)
    const { next, ...figures } = policy.take(this.state, nowMs, kind === 'charge' ? units : 0)
    this.state = next ?? this.state
    if (kind === 'charge' && figures.allowed) this.charges.push({ takenAtMs: nowMs, units })
    return figures
  }

  /** Does the same to the plain log. */
  runPlain({ kind, units, which }: Event) {
    const { plain, numbers, nowMs } = this
    const receipt = this.charges[which % Math.max(1, this.charges.length)]
    if (kind === 'reward') plain.reward(numbers, nowMs, units)
    else if (kind === 'refund' && receipt !== undefined)
      plain.refund(numbers, nowMs, Math.min(units, receipt.units), receipt.takenAtMs)
    return plain.charge(numbers, nowMs, kind === 'charge' ? units : 0)
  }
}

test('each figure is that of a plain list of times, for any window', () => {
  fc.assert(
    fc.property(anyNumbers, start, eventsWith(never, 'refund', 'reward'), (numbers, startMs, events) => {
      const world = new World(numbers, startMs)
      const steps = events.map((event) => {
        world.pass(event)
        const expected = world.runPlain(event)
        return { seen: world.run(event), expected }
      })
      expect(steps.map(({ seen }) => seen)).toEqual(steps.map(({ expected }) => expected))
    }),
    { numRuns: 200 },
  )
})

test('each figure is that of a plain list of times while the clock steps back', () => {
  fc.assert(
    fc.property(
      shortNumbers,
      start,
      eventsWith(sometimes, 'refund', 'reward'),
      (numbers, startMs, events) => {
        const world = new World(numbers, startMs)
        const steps = events.map((event) => {
          world.pass(event)
          const expected = world.runPlain(event)
          const seen = world.run(event)
          // A charge drops units that have ended, but the list would count them after a step.
          world.plain.keepNewest(world.state?.length ?? 0)
          return { seen, expected }
        })
        expect(steps.map(({ seen }) => seen)).toEqual(steps.map(({ expected }) => expected))
      },
    ),
    { numRuns: 200 },
  )
})

/** A unit that was admitted and not given back. */
interface Unit {
  readonly trueMs: number
  readonly charge: Taken | undefined
}

/** Runs events, and returns after each charge how many units its window has. */
function unitsInWindows(numbers: LogNumbers, startMs: number, events: readonly Event[]): number[] {
  const world = new World(numbers, startMs)
  let admitted: Unit[] = []
  return events.flatMap((event) => {
    if (event.back > 0) world.charges.length = 0 // a refund names its units by a time of the same clock
    world.pass(event)
    const { nowMs, trueMs, policy, state } = world
    const isGreedy = event.kind === 'charge' && event.units > 9
    const units = isGreedy ? policy.take(state, nowMs, 0).remaining : event.units
    const receipt = world.charges[event.which % Math.max(1, world.charges.length)]
    const { allowed } = world.run({ ...event, units })
    if (event.kind === 'reward') admitted.splice(Math.max(0, admitted.length - units))
    if (event.kind === 'refund' && receipt !== undefined) {
      const given = Math.min(units, receipt.units)
      receipt.units -= given
      const ofCharge = admitted.filter(({ charge }) => charge === receipt).slice(0, given)
      admitted = admitted.filter((unit) => !ofCharge.includes(unit))
    }
    if (event.kind === 'charge' && allowed)
      for (let i = 0; i < units; i++) admitted.push({ trueMs, charge: world.charges.at(-1) })
    return admitted.filter((unit) => unit.trueMs > trueMs - numbers.windowMs).length
  })
}

// Not both in one trace: a refund of units that a reward gave back may reach others of the same millisecond.
test.each(['refund', 'reward'] as const)(
  'no window anywhere has more than the limit, with any %s, and while the clock steps back',
  (kind) => {
    fc.assert(
      fc.property(anyNumbers, start, eventsWith(sometimes, kind), (numbers, startMs, events) => {
        const units = unitsInWindows(numbers, startMs, events)
        expect(Math.max(0, ...units)).toBeLessThanOrEqual(numbers.limit)
      }),
      { numRuns: 400 },
    )
  },
)
