import fc from 'fast-check'
import { concurrency, type Policy } from 'headgate'
import type { State } from 'headgate/store'

/** Units that somebody holds, by the clock of the store. */
interface Held {
  readonly cost: number
  readonly takenAtMs: number
  resetAtMs: number
  /** When they were last renewed, in true time. */
  renewedMs: number
}

/** What happens next: time passes, units are taken, released or renewed, or their process crashes. */
interface Event {
  readonly kind: 'take' | 'release' | 'renew' | 'crash'
  readonly which: number
  readonly cost: number
  /** In slices. */
  readonly waits: number
}

const numbers = fc.record({
  limit: fc.integer({ min: 1, max: 9 }),
  ttl: fc.integer({ min: 1000, max: 9000 }),
})
const moment = fc.double({ min: 1.6e12, max: 2.1e12, noNaN: true })
const events = fc.array(
  fc.record<Event>({
    kind: fc.constantFrom('take', 'take', 'take', 'release', 'renew', 'crash'),
    which: fc.nat(),
    cost: fc.integer({ min: 1, max: 3 }),
    waits: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1, noNaN: true })),
  }),
  { maxLength: 80 },
)

/** A key, its holders, and a clock that may run behind true time. */
function simulate(policy: Policy, startMs: number) {
  const ttlMs = policy.ttlMs as number
  const live: Held[] = []
  const crashed: Held[] = []
  let state: State | undefined
  let trueMs = 0
  let behindMs = 0
  const now = () => startMs + trueMs - behindMs

  function renew(held: Held): void {
    state = policy.renew?.(state, now(), held.cost, held.takenAtMs, held.resetAtMs)
    held.resetAtMs = now() + policy.take(state, now(), 0).resetAfterMs
    held.renewedMs = trueMs
  }

  const actions: Record<Event['kind'], (held: Held | undefined, cost: number) => void> = {
    take(_held, cost) {
      const step = policy.take(state, now(), cost)
      state = step.next ?? state
      if (!step.allowed) return
      live.push({ cost, takenAtMs: now(), resetAtMs: now() + step.resetAfterMs, renewedMs: trueMs })
    },
    release(held) {
      if (held === undefined) return
      live.splice(live.indexOf(held), 1)
      state = state && policy.refund(state, now(), held.cost, held.takenAtMs, held.resetAtMs)
    },
    renew: (held) => held && renew(held),
    crash(held) {
      if (held !== undefined) crashed.push(...live.splice(live.indexOf(held), 1))
    },
  }

  return {
    live,
    crashed,
    now,
    run({ kind, which, cost, waits }: Event) {
      trueMs += (waits * ttlMs) / 8
      actions[kind](live[which % Math.max(1, live.length)], cost)
    },
    /** As a limiter does: from 3/8 of the ttl on. */
    renewDue() {
      for (const held of live) if (trueMs - held.renewedMs >= (3 / 8) * ttlMs) renew(held)
    },
    wait(ms: number) {
      trueMs += ms
    },
    stepBack(ms: number) {
      behindMs += ms
    },
    free: () => policy.take(state, now(), 0).remaining,
  }
}

const unitsOf = (held: readonly Held[]) => held.reduce((sum, { cost }) => sum + cost, 0)

test('what is free is exactly what nobody holds, and what crashed processes hold no longer', () => {
  fc.assert(
    fc.property(numbers, moment, events, (given, startMs, trace) => {
      const policy = concurrency(given)
      const { live, crashed, now, run, renewDue, free } = simulate(policy, startMs)
      for (const event of trace) {
        run(event)
        renewDue()
        const stuck = crashed.filter(({ resetAtMs }) => Math.floor(now()) < Math.round(resetAtMs))
        expect(free()).toBe(given.limit - unitsOf(live) - unitsOf(stuck))
      }
    }),
  )
})

test('units are held for a ttl, and at most an eighth longer, after their last renewal', () => {
  fc.assert(
    fc.property(numbers, moment, events, (given, startMs, trace) => {
      const { crashed, now, run, renewDue } = simulate(concurrency(given), startMs)
      for (const event of trace) {
        const before = crashed.length
        run(event)
        renewDue()
        for (const { renewedMs, resetAtMs } of crashed.slice(before)) {
          const heldMs = resetAtMs - (startMs + renewedMs)
          expect(heldMs).toBeGreaterThanOrEqual(given.ttl - 0.001)
          expect(heldMs).toBeLessThanOrEqual((9 / 8) * given.ttl + 1.001)
        }
        expect(now()).toBeGreaterThanOrEqual(startMs)
      }
    }),
  )
})

const steps = fc.array(
  fc.record({ at: fc.nat(79), ttls: fc.oneof(fc.double({ min: 0, max: 2, noNaN: true }), fc.constant(1e4)) }),
  { maxLength: 4 },
)

test('a clock that steps back never lets live processes hold more than the limit', () => {
  fc.assert(
    fc.property(numbers, moment, events, steps, (given, startMs, trace, back) => {
      const { live, run, renewDue, stepBack } = simulate(concurrency(given), startMs)
      trace.forEach((event, i) => {
        for (const { at, ttls } of back) if (at === i) stepBack(ttls * given.ttl)
        run(event)
        renewDue()
        expect(unitsOf(live)).toBeLessThanOrEqual(given.limit)
      })
    }),
  )
})

test('a clock that stepped back keeps units of crashed processes for two ttl and an eighth at most', () => {
  fc.assert(
    fc.property(numbers, moment, events, steps, (given, startMs, trace, back) => {
      const { live, run, renewDue, stepBack, wait, free } = simulate(concurrency(given), startMs)
      trace.forEach((event, i) => {
        for (const { at, ttls } of back) if (at === i) stepBack(ttls * given.ttl)
        run(event)
        renewDue()
      })
      live.length = 0
      run({ kind: 'take', which: 0, cost: given.limit + 1, waits: 0 }) // a denial, which clamps the state
      wait((2 + 1 / 8) * given.ttl + 1)
      expect(free()).toBe(given.limit)
    }),
  )
})
