import fc from 'fast-check'
import { concurrency, fixedWindow, type Policy, slidingWindow, tokenBucket } from 'headgate'
import type { Operation, Refund } from 'headgate/store'
import { policyFromText } from '../../../src/stores/builders/policy-text.js'
import type { Item } from '../../../src/stores/dynamodb/client.js'
import { loggedIn } from '../../../src/stores/dynamodb/item.js'
import { replay } from '../../../src/stores/dynamodb/log.js'
import { refundsOf } from '../../../src/stores/shared/refunds.js'
import { BASE_KINDS, bannedPolicy, basePolicy, shareUpTo } from '../../properties/arbitrary-policies.js'
import { newKey, type Tables } from './use-dynalite.js'

const numbers = fc.record({
  limit: fc.integer({ min: 1, max: 30 }),
  debt: fc.integer({ min: 1, max: 60 }),
  windowMs: fc.integer({ min: 1000, max: 200_000 }),
})

const KINDS: Readonly<Record<string, fc.Arbitrary<{ readonly policy: Policy }>>> = {
  ...BASE_KINDS,
  ban: bannedPolicy(basePolicy),
  concurrency: numbers.map(({ limit, windowMs }) => ({
    policy: concurrency({ limit, ttl: `${windowMs}ms` }),
  })),
  'tokenBucket with debt': numbers.map(({ limit, debt, windowMs }) => ({
    policy: tokenBucket({ capacity: limit, refill: 1, every: `${windowMs}ms`, debt }),
  })),
  'slidingWindow with debt': numbers.map(({ limit, debt, windowMs }) => ({
    policy: slidingWindow({ limit, window: `${windowMs}ms`, debt }),
  })),
  'fixedWindow with debt': numbers.map(({ limit, debt, windowMs }) => ({
    policy: fixedWindow({ limit, window: `${windowMs}ms`, debt }),
  })),
}

const step = fc.record({
  do: fc.constantFrom<(Operation['type'] | 'many')[]>(
    'charge',
    'charge',
    'many',
    'take',
    'reward',
    'refund',
    'block',
  ),
  /** As a share of the limit. */
  units: shareUpTo(1.2),
  /** As a share of the window. */
  wait: fc.oneof(fc.constant(0), shareUpTo(0.2), shareUpTo(2)),
  /** How much later than the one before, if no time passes, or than others, the operation arrives. */
  lateMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 9999 })),
})

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** More than a log has before it is folded. */
const MANY = 22

/** Returns the operations of a step. */
function operationsOf(
  { do: what, units: share, wait }: Step,
  key: string,
  policy: Policy,
  receipts: readonly Refund[],
): Operation[] {
  const units = Math.round(share * policy.limit)
  const { longestBanMs = 0, holdsUnits } = policy
  if (what === 'many')
    return Array.from({ length: MANY }, (_, i) => ({
      type: 'charge',
      parts: [{ key, policy, cost: 1 + (i % 2) }],
    }))
  if (what === 'refund') return receipts.slice(-1)
  if (what === 'block')
    return longestBanMs > 0 ? [{ type: 'block', key, policy, forMs: longestBanMs * Math.min(1, wait) }] : []
  if (what === 'take' || what === 'reward')
    return [{ type: what, key, policy, units: holdsUnits ? 0 : units }]
  return [{ type: 'charge', parts: [{ key, policy, cost: units }] }]
}

/** Returns when the state in an item is fresh again, in ms since the Unix epoch. */
export function resetAtMs(item: Item, key: string, tested: Policy): number {
  const logged = loggedIn(item)
  if (logged === undefined) throw new Error('the item holds no state')
  const policy = logged.policy === '' ? tested : policyFromText(logged.policy)
  const { state, atMs } = replay({ key, policy }, logged, logged.entries)
  return atMs + policy.take(state, atMs, 0).resetAfterMs
}

/** Defines the property that DynamoDB never deletes an item that is in use. */
export function describeExpiries(tables: Tables, numRuns: number): void {
  test.each(Object.entries(KINDS))(
    'the expiry of an item is never earlier than the reset of its state: %s',
    async (_, kind) => {
      const property = fc.asyncProperty(
        kind,
        fc.array(step, { minLength: 2, maxLength: 10 }),
        ({ policy }, steps) => expectToOutlast(tables, policy, steps),
      )
      await fc.assert(property, { numRuns, endOnFailure: true })
    },
  )
}

async function expectToOutlast(tables: Tables, policy: Policy, steps: readonly Step[]): Promise<void> {
  const key = newKey()
  const receipts: Refund[] = []
  let nowMs = Date.UTC(2030, 0, 1)
  let clockMs = nowMs
  const store = tables.store(tables.client, () => clockMs)
  for (const each of steps) {
    nowMs += Math.round(each.wait * (Number.isFinite(policy.windowMs) ? policy.windowMs : 1000))
    clockMs = (each.wait === 0 ? clockMs : nowMs) - each.lateMs
    const operations = operationsOf(each, key, policy, receipts)
    for (const [i, outcome] of (await store.apply(operations)).entries()) {
      if (outcome instanceof Error) throw outcome
      const operation = operations[i]
      if (operation?.type === 'charge' && outcome.type === 'charge' && outcome.allowed)
        receipts.push(...refundsOf(operation.parts, outcome))
    }
    const item = await tables.item(key)
    if (item?.expires?.N === undefined) continue
    expect(Number(item.expires.N) * 1000).toBeGreaterThanOrEqual(resetAtMs(item, key, policy))
  }
}
