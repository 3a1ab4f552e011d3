import type * as fastCheck from 'fast-check'
import { ban } from '../../policies/ban.js'
import { consecutive } from '../../policies/consecutive.js'
import { fixedWindow } from '../../policies/fixed-window.js'
import { type Policy, signatureOf } from '../../policies/policy.js'
import { slidingLog } from '../../policies/sliding-log.js'
import { slidingWindow } from '../../policies/sliding-window.js'
import { baseOf, keyCodeOf } from '../../policies/spec.js'
import { tokenBucket } from '../../policies/token-bucket.js'
import type { Part } from '../../stores/operation.js'
import type { TestCase } from '../test-case.js'
import { type CaseStep, expectAsModel, operationsOf } from './as-model.js'
import { part } from './store-calls.js'
import { type ConformanceSetup, withStore } from './store-under-test.js'

const SAMPLES: readonly Policy[] = [
  tokenBucket({ capacity: 5, refill: 1, every: '1s' }),
  tokenBucket({ capacity: 3, refill: 7, every: '1s' }),
  slidingWindow({ limit: 4, window: 1000, slices: 4 }),
  slidingWindow({ limit: 6, window: '997ms', slices: 3 }),
  slidingLog({ limit: 4, window: 1000 }),
  slidingLog({ limit: 7, window: 1000 }),
  fixedWindow({ limit: 3, window: '700ms' }),
  fixedWindow({ limit: 3, window: '700ms', startsAt: 'first-request' }),
  consecutive({ limit: 4 }),
  ban(slidingWindow({ limit: 4, window: 1000, slices: 4 }), {
    after: 2,
    within: '900ms',
    for: ['300ms', '1100ms'],
  }),
  ban(slidingLog({ limit: 5, window: 1000 }), { after: 2, within: '900ms', for: ['300ms', '1100ms'] }),
  ban(tokenBucket({ capacity: 3, refill: 7, every: '1s' }), {
    after: 1,
    within: '1s',
    for: ['200ms', '500ms'],
    onAttempt: 'restart',
  }),
  // The same keys under other numbers, some of which may be owed.
  tokenBucket({ capacity: 8, refill: 1, every: '1s', debt: 3 }),
  tokenBucket({ capacity: 4, refill: 7, every: '1s', debt: 1 }),
  tokenBucket({ capacity: 9, refill: 7000, every: '1s', debt: 2 }),
  slidingWindow({ limit: 7, window: 1000, slices: 4, debt: 2 }),
  fixedWindow({ limit: 5, window: '700ms', debt: 2 }),
  fixedWindow({ limit: 2, window: '700ms', startsAt: 'first-request', debt: 4 }),
  fixedWindow({ limit: 5, window: '900ms', startsAt: 'first-request' }),
  fixedWindow({ limit: 4, window: '1100ms' }),
  slidingLog({ limit: 5, window: '600ms' }),
  consecutive({ limit: 6 }),
  ban(slidingWindow({ limit: 6, window: 1000, slices: 4 }), {
    after: 1,
    within: '900ms',
    for: ['400ms', '1900ms'],
  }),
  ban(slidingWindow({ limit: 3, window: 1000, slices: 4 }), { after: 3, within: '400ms', for: '100ms' }),
  ban(tokenBucket({ capacity: 5, refill: 7, every: '1s', debt: 2 }), {
    after: 3,
    within: '700ms',
    for: ['300ms', '500ms'],
  }),
]

/** The policies by names that tell what they are, in a trace that fails. */
const POLICIES = new Map(SAMPLES.map((policy) => [signatureOf(policy), policy]))

/** A part, as a trace that fails shows it. */
interface Unit {
  readonly owner: string
  readonly policy: string
  readonly cost: number
}

type TraceStep =
  | { readonly charges: readonly (readonly Unit[])[] }
  | { readonly take: Unit }
  | { readonly reward: Unit }
  | { readonly block: Unit; readonly forMs: number }
  | { readonly refund: number; readonly cost: number }
  | { readonly forget: readonly Unit[] }
  | { readonly advanceMs: number }

/** Policies of one kind share a key, buckets only at the same rate: a fast one would soon be full. */
function keyOf(each: Unit): string {
  const { spec } = policyOf(each)
  const base = baseOf(spec)
  const rate = base.kind === 'token-bucket' ? base.intervalMs : ''
  return `${each.owner}:${keyCodeOf(spec)}:${rate}`
}

/** The parts of a charge, each key under one policy. */
function partsOf(units: readonly Unit[]): readonly Part[] {
  const parts = units.map(partOf)
  return parts.filter(({ key, policy }) => parts.find((other) => other.key === key)?.policy === policy)
}

const partOf = (each: Unit) => part(keyOf(each), policyOf(each), each.cost)
const operationsOn = (each: Unit) => operationsOf(policyOf(each))

function policyOf({ policy }: Unit): Policy {
  const sample = POLICIES.get(policy)
  if (sample === undefined) throw new Error(`no trace has the policy ${policy}`)
  return sample
}

function stepOf(step: TraceStep): CaseStep {
  if ('advanceMs' in step) return { type: 'advance', ms: step.advanceMs }
  if ('charges' in step)
    return step.charges.map((units) => ({ type: 'charge', parts: partsOf(units) }) as const)
  if ('forget' in step) return step.forget.map((each) => operationsOn(each).forget(keyOf(each)))
  if ('take' in step) return operationsOn(step.take).take(step.take.cost, keyOf(step.take))
  if ('reward' in step) return operationsOn(step.reward).reward(step.reward.cost, keyOf(step.reward))
  if ('block' in step) {
    const { longestBanMs } = policyOf(step.block)
    if (longestBanMs === undefined) return []
    return operationsOn(step.block).block(Math.min(step.forMs, longestBanMs), keyOf(step.block))
  }
  return (receipts) => {
    const receipt = receipts[step.refund % Math.max(1, receipts.length)]
    return receipt === undefined ? [] : [{ ...receipt, cost: Math.min(receipt.cost, step.cost) }]
  }
}

/** The traces of a property, and what its test is called after: which keys a charge names. */
interface TraceKind {
  readonly keys: string
  traces(fc: typeof fastCheck): fastCheck.Arbitrary<TraceStep[]>
}

const KINDS: readonly TraceKind[] = [
  {
    keys: 'each key at most once',
    traces: (fc) => tracesOf(fc, fc.uniqueArray(unitOf(fc), { minLength: 1, maxLength: 4, selector: keyOf })),
  },
  {
    keys: 'a key several times',
    traces: (fc) => tracesOf(fc, fc.array(unitOf(fc), { minLength: 1, maxLength: 4 })),
  },
]

/** For a store that takes the keys of a charge one after the other, beside the other charges of a batch. */
const ONE_KEY: TraceKind = {
  keys: 'one key',
  traces: (fc) =>
    tracesOf(
      fc,
      fc.tuple(unitOf(fc), fc.nat(2)).map(([each, others]) => Array<Unit>(1 + others).fill(each)),
    ),
}

function unitOf(fc: typeof fastCheck): fastCheck.Arbitrary<Unit> {
  return fc.record({
    owner: fc.constantFrom('a', 'b', 'c'),
    policy: fc.constantFrom(...POLICIES.keys()),
    cost: fc.oneof({ weight: 6, arbitrary: fc.nat(3) }, fc.nat(8)),
  })
}

function tracesOf(
  fc: typeof fastCheck,
  charge: fastCheck.Arbitrary<Unit[]>,
): fastCheck.Arbitrary<TraceStep[]> {
  const unit = unitOf(fc)
  const quarterMs = fc.oneof(fc.nat(400), fc.nat(12_000)).map((n) => n / 4) // up to three windows
  const step = fc.oneof<fastCheck.WeightedArbitrary<TraceStep>[]>(
    { weight: 6, arbitrary: fc.record({ charges: fc.array(charge, { maxLength: 5 }) }) },
    { weight: 1, arbitrary: fc.record({ take: unit }) },
    { weight: 1, arbitrary: fc.record({ reward: unit }) },
    { weight: 2, arbitrary: fc.record({ block: unit, forMs: fc.nat(2000) }) },
    { weight: 2, arbitrary: fc.record({ refund: fc.nat(), cost: fc.nat(3) }) },
    { weight: 1, arbitrary: fc.record({ forget: fc.array(unit, { maxLength: 3 }) }) },
    { weight: 4, arbitrary: fc.record({ advanceMs: quarterMs }) },
  )
  return fc.array(step, { maxLength: 40 })
}

/**
 * Random traces through the store and through a plain model: every figure is the same. A failure shows the
 * shortest trace that fails. fast-check is loaded when a test runs.
 */
export function traceCases(setup: ConformanceSetup): TestCase[] {
  const kinds = setup.capabilities.atomicAcrossKeys ? KINDS : [ONE_KEY]
  return kinds.map(({ keys, traces }) => ({
    name: `on random traces whose charges name ${keys}, every figure equals that of a plain model`,
    run: async () => {
      const fc = await import('fast-check')
      const property = fc.asyncProperty(traces(fc), (steps) =>
        withStore(setup, (made) => expectAsModel(made, steps.map(stepOf), true)),
      )
      await fc.assert(property, { numRuns: 300 })
    },
  }))
}
