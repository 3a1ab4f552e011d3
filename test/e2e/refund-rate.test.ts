import fc from 'fast-check'
import { createLimiter, type Decision, memoryStore, tokenBucket } from 'headgate'
import type { State } from 'headgate/store'
import { promisingStore } from '../support/fault-stores.js'

const START_MS = 1_790_000_000_000

interface Traffic {
  readonly everyMs: number
  readonly forMs: number
  /** When a handler answers, after its request came. */
  readonly answersAfterMs: number
  /** Whether the request with this number is refunded. */
  readonly succeeds: (request: number) => boolean
}

/** Sends steady requests of one client at a limit of 20 a second, and counts those that were let through. */
async function run({ everyMs, forMs, answersAfterMs, succeeds }: Traffic) {
  let nowMs = START_MS
  const store = memoryStore({ clock: () => nowMs })
  const limiter = createLimiter({ limit: 20, window: '1s', store, key: () => 'ada' })
  const running: { readonly decision: Decision; readonly endsAtMs: number; readonly request: number }[] = []
  let sent = 0
  let allowed = 0
  for (let atMs = 0; atMs < forMs; atMs += everyMs) {
    while (running[0] !== undefined && running[0].endsAtMs <= START_MS + atMs) {
      const { decision, endsAtMs, request } = running.shift() as (typeof running)[number]
      nowMs = endsAtMs
      if (succeeds(request)) await limiter.refund(decision)
    }
    nowMs = START_MS + atMs
    const decision = await limiter.charge({ ip: '192.0.2.7' })
    if (decision.allowed) {
      running.push({ decision, endsAtMs: nowMs + answersAfterMs, request: sent })
      allowed++
    }
    sent++
  }
  return { sent, allowed, deniedShare: 1 - allowed / sent }
}

describe("a token bucket with count: 'failed'", () => {
  test.each([0, 1, 10, 49, 50, 60, 100, 150])(
    'lets five times its rate through when every handler succeeds after %d ms',
    async (answersAfterMs) => {
      const traffic = { everyMs: 10, forMs: 20_000, answersAfterMs, succeeds: () => true }
      const { sent, deniedShare } = await run(traffic)
      expect(sent).toBe(2000)
      expect(deniedShare).toBeLessThan(0.02)
    },
  )

  test('still limits failing requests to its rate while nine in ten succeed', async () => {
    const succeeds = (request: number) => request % 10 !== 0
    const { deniedShare } = await run({ everyMs: 10, forMs: 20_000, answersAfterMs: 60, succeeds })
    expect(deniedShare).toBeLessThan(0.02) // 10 failures a second are below 20
  })

  test('admits its capacity and its rate when every handler fails', async () => {
    const traffic = { everyMs: 10, forMs: 20_000, answersAfterMs: 60, succeeds: () => false }
    const { allowed } = await run(traffic)
    expect(allowed).toBe(20 + 399) // the 400th token comes at 20 s
  })
})

test('a refund carries the time at which its key would have been fresh again', async () => {
  const store = promisingStore()
  const limiter = createLimiter({ limit: 20, window: '1s', store, key: () => 'ada' })
  for (const cost of [1, 3]) {
    const decision = await limiter.charge({ ip: '192.0.2.7' }, { cost })
    await limiter.refund(decision)
    const refund = store.refunds.at(-1)
    expect(refund).toMatchObject({ cost, takenAtMs: expect.any(Number) })
    expect(refund?.resetAtMs).toBe((refund?.takenAtMs ?? 0) + decision.resetAfterMs)
  }
})

describe('a refund of a token bucket', () => {
  const policy = tokenBucket({ capacity: 20, refill: 20, every: '1s' })
  const later = fc.array(
    fc.record({ afterMs: fc.integer({ min: 0, max: 300 }), cost: fc.integer({ min: 0, max: 5 }) }),
  )
  const costs = fc.integer({ min: 1, max: 10 })
  const waits = fc.integer({ min: 0, max: 1200 })

  /** Charges where it is allowed, and gives the state after it. */
  function after(state: State | undefined, nowMs: number, cost: number): State | undefined {
    const { allowed, next } = policy.take(state, nowMs, cost)
    return allowed ? (next ?? state) : state
  }
  const owedAt = (state: State | undefined, nowMs: number) => policy.take(state, nowMs, 0).resetAfterMs

  test('restores all that was taken, when nothing came between', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 }), costs, waits, (before, cost, waitMs) => {
        const without = after(undefined, START_MS, before)
        const step = policy.take(without, START_MS, cost)
        const nowMs = START_MS + waitMs
        const left = policy.refund(step.next ?? [], nowMs, cost, START_MS, START_MS + step.resetAfterMs)
        expect(owedAt(left, nowMs)).toBe(owedAt(without, nowMs))
      }),
    )
  })

  test('never restores more than was taken, whatever came between', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 }), costs, later, waits, (before, cost, others, waitMs) => {
        let without = after(undefined, START_MS, before)
        const step = policy.take(without, START_MS, cost)
        let charged: State | undefined = step.next
        let nowMs = START_MS
        for (const other of others) {
          nowMs += other.afterMs
          if (!policy.take(charged, nowMs, other.cost).allowed) continue
          charged = after(charged, nowMs, other.cost)
          without = after(without, nowMs, other.cost)
        }
        nowMs += waitMs
        const left = policy.refund(charged ?? [], nowMs, cost, START_MS, START_MS + step.resetAfterMs)
        expect(owedAt(left, nowMs)).toBeGreaterThanOrEqual(owedAt(without, nowMs))
        expect(owedAt(left, nowMs)).toBeLessThanOrEqual(owedAt(charged, nowMs))
      }),
    )
  })
})
