import { inspect } from 'node:util'
import { createLimiter, tokenBucket } from 'headgate'
import type { ChargeResult, PartResult, Refund } from 'headgate/store'
import {
  chargedParts,
  type Decision,
  decisionOf,
  denyUndelayable,
  receiptOf,
  unchargedDecision,
} from '../../../src/limiter/decision.js'
import type { Apply, NamedPart } from '../../../src/limiter/receipt.js'
import { refundReceipt } from '../../../src/limiter/refund-receipt.js'

const policy = tokenBucket({ capacity: 10, refill: 10, every: '1m' })
const part = (name: string, cost = 1) => {
  return { name, key: `key-of-${name}`, policy, cost, scope: 'key-of-', identity: name }
}
const figures = (allowed: boolean, remaining: number, retryAfterMs = 0): PartResult => {
  return { allowed, remaining, retryAfterMs, resetAfterMs: 1000, moreAfterMs: 500 }
}
const verdictOf = (parts: PartResult[]): ChargeResult => {
  return { type: 'charge', allowed: parts.every((each) => each.allowed), atMs: 5, parts }
}
/** Notes what is refunded. */
const refundsTo = (given: Refund[]) =>
  ((refund: Refund) => {
    given.push(refund)
    return { type: 'refund' }
  }) as Apply
const decideOn = (parts: NamedPart[], result: ChargeResult, apply: Apply) =>
  decisionOf('store', parts, result, apply, undefined)
const refundDecision = (decision: Decision) => refundReceipt(receiptOf(decision))
const decide = (...parts: PartResult[]) => {
  return decideOn(
    parts.map((_, i) => part(`n${i}`)),
    verdictOf(parts),
    refundsTo([]),
  )
}

test.each<[string, PartResult[], string]>([
  ['the only part', [figures(true, 3)], 'n0'],
  [
    'the one nearest to exhaustion when all allow',
    [figures(true, 3), figures(true, 1), figures(true, 2)],
    'n1',
  ],
  ['the first of those equally near', [figures(true, 1), figures(true, 1)], 'n0'],
  ['the one that denied, even if another has less remaining', [figures(true, 0), figures(false, 5, 9)], 'n1'],
  [
    'the one that denied for longest',
    [figures(false, 0, 5), figures(false, 0, 9), figures(false, 0, 7)],
    'n1',
  ],
  ['the one that denies for good', [figures(false, 0, 5), figures(false, 9, Number.POSITIVE_INFINITY)], 'n1'],
])('a decision shows the figures of %s', (_what, parts, name) => {
  const decision = decide(...parts)
  const shown = decision.parts.find((each) => each.name === name)
  const { limitName, remaining, retryAfterMs, resetAfterMs } = decision
  expect(limitName).toBe(name)
  expect({ remaining, retryAfterMs, resetAfterMs }).toEqual({
    remaining: shown?.remaining,
    retryAfterMs: shown?.retryAfterMs,
    resetAfterMs: shown?.resetAfterMs,
  })
})

test('parts keep their order and their own figures', () => {
  expect(decide(figures(true, 3), figures(false, 0, 9)).parts).toEqual([
    { name: 'n0', limit: 10, windowMs: 60_000, cost: 1, ...figures(true, 3) },
    { name: 'n1', limit: 10, windowMs: 60_000, cost: 1, ...figures(false, 0, 9) },
  ])
})

test('a decision shows no keys, in JSON or among its properties', () => {
  const decision = decide(figures(true, 3))
  expect(JSON.stringify(decision)).not.toContain('key-of-')
  expect(Object.keys(decision).sort()).toEqual([
    'allowed',
    'limit',
    'limitName',
    'moreAfterMs',
    'parts',
    'remaining',
    'resetAfterMs',
    'retryAfterMs',
    'source',
  ])
})

test('a decision refunds once, with the time of the charge, and without parts of cost 0', () => {
  const verdict = verdictOf([figures(true, 3), figures(true, 4)])
  const charge = [part('a', 2), part('b', 0)]
  const given: Refund[] = []
  const decision = decideOn(charge, verdict, refundsTo(given))
  refundDecision(decision)
  refundDecision(decision)
  expect(given).toEqual([{ type: 'refund', key: 'key-of-a', policy, cost: 2, takenAtMs: 5, resetAtMs: 1005 }])
})

test.each([
  ['a denial', decide(figures(false, 0, 9))],
  ['a decision that no limit applies', unchargedDecision('none')],
  ['a fail-open decision', unchargedDecision('fail-open')],
  ['a fail-closed decision', unchargedDecision('fail-closed')],
  ['a copy', { ...JSON.parse(JSON.stringify(decide(figures(true, 3)))) }],
])('a refund of %s returns nothing', (_what, decision) => {
  expect(refundDecision(decision)).toBeUndefined()
})

test('a copy, an object that inherits from a decision and a proxy of it are no decisions', () => {
  const made = decide(figures(true, 3))
  expect(chargedParts(made)).toHaveLength(1)
  for (const like of [{ ...made }, Object.create(made), new Proxy(made, {}), structuredClone(made)]) {
    expect(chargedParts(like)).toBeUndefined()
    expect(refundDecision(like)).toBeUndefined()
  }
})

test('decisions show no symbols, and equal decisions are deeply equal', () => {
  expect(decide(figures(true, 3))).toStrictEqual(decide(figures(true, 3)))
  expect(unchargedDecision('none')).not.toEqual(unchargedDecision('fail-open'))
  for (const made of [
    decide(figures(true, 3)),
    unchargedDecision('none'),
    unchargedDecision('fail-open'),
    unchargedDecision('fail-closed'),
  ]) {
    expect(Object.getOwnPropertySymbols({ ...made })).toEqual([])
    expect(inspect(made)).not.toContain('Symbol')
  }
})

test('a request that could not be delayed stays charged: its denial can be neither refunded nor adjusted', async () => {
  const limiter = createLimiter({ policy, key: () => 'all' })
  const denial = denyUndelayable(await limiter.charge({ ip: '192.0.2.7' }), 1000)
  await limiter.adjust(denial, 3)
  await limiter.refund(denial)
  expect(await limiter.peek({ ip: '192.0.2.7' })).toMatchObject({ remaining: 9 })
  await limiter.forget(denial)
  expect(await limiter.peek({ ip: '192.0.2.7' })).toMatchObject({ remaining: 10 })
})
