import type { Policy } from '../../policies/policy.js'
import {
  type Block,
  type Charge,
  type Forget,
  keysOf,
  type Operation,
  type PartResult,
  type Refund,
  type Result,
  type Reward,
  type Take,
  type TakeResult,
} from '../../stores/operation.js'
import { refundsOf } from '../../stores/shared/refunds.js'
import type { Unchecked } from '../../stores/shared/validate.js'
import { expectAtLeast, expectEqual } from '../assertions.js'
import { ModelStore } from './model.js'
import { applyAll, applyOne, figures, part } from './store-calls.js'
import type { StoreCase } from './store-case.js'
import type { StoreUnderTest } from './store-under-test.js'

/** One operation, or a batch. */
type Operations = Operation | readonly Operation[]

/** Lets time pass. */
interface Advance {
  readonly type: 'advance'
  readonly ms: number
}

/**
 * What a test does next: applies operations or lets time pass, perhaps by the receipts of all units taken so
 * far and the last result. There is a receipt for each part of an allowed charge, each take and each
 * renewal.
 */
export type CaseStep =
  | Operations
  | Advance
  | ((receipts: readonly Refund[], lastResult: Result | undefined) => Operations | Advance)

export function operationsOf(policy: Policy) {
  return {
    charge: (cost = 1, ...keys: string[]): Charge => {
      return {
        type: 'charge',
        parts: (keys.length > 0 ? keys : ['key']).map((key) => part(key, policy, cost)),
      }
    },
    take: (units: number, key = 'key'): Take => ({ type: 'take', key, policy, units }),
    reward: (units: number, key = 'key'): Reward => ({ type: 'reward', key, policy, units }),
    block: (forMs: number, key = 'key'): Block => ({ type: 'block', key, policy, forMs }),
    forget: (key = 'key'): Forget => ({ type: 'forget', key, policy }),
  }
}

/**
 * Returns a receipt by its index; -1 is the last one. Throws if the store has allowed too few charges so
 * far.
 */
export function receiptAt(receipts: readonly Refund[], index: number): Refund {
  const receipt = receipts.at(index)
  if (receipt === undefined) throw new Error('no charge before this step was allowed')
  return receipt
}

/** Returns a step that refunds units by the first receipt, with some of its properties changed. */
export function refund(change: Partial<Refund> | ((receipt: Refund) => Partial<Refund>) = {}): CaseStep {
  return (receipts) => {
    const first = receiptAt(receipts, 0)
    return { ...first, ...(typeof change === 'function' ? change(first) : change) }
  }
}

/**
 * Returns a step that lets time pass until shortly before or after a time in the figures of the last charge.
 */
export function advanceTo(figure: 'retryAfterMs' | 'resetAfterMs', laterMs = 0): CaseStep {
  return (_receipts, lastResult) => {
    const [verdict] = lastResult?.type === 'charge' ? lastResult.parts : []
    return { type: 'advance', ms: (verdict?.[figure] ?? 0) + laterMs }
  }
}

/** Returns the test that `expectAsModel` makes of steps. */
export function asModel(...steps: readonly CaseStep[]): StoreCase['body'] {
  return (made) => expectAsModel(made, steps)
}

/**
 * Takes steps with a store and with a plain model of the contract: every result is the same. The model
 * applies each operation at the time in the store's result. As long as all results have a time, or if the
 * clock stands still between two steps, every figure is compared; otherwise, what time does not change.
 *
 * A state may be fresh under one of the policies of its key, and not under another. The store may or may not
 * have dropped it then. So if the clock stands still, both sides forget such a state after each advance.
 */
export async function expectAsModel(
  { store, advance }: StoreUnderTest,
  steps: readonly CaseStep[],
  isClockStill = false,
): Promise<void> {
  const model = new ModelStore()
  const receipts: Refund[] = []
  const lastMs = new Map<string, number>()
  const sinceAdvance = new Map<string, number>()
  const policies = new Map<string, Set<Policy>>()
  let nowMs = 0
  let isExact = true
  let lastResult: Result | undefined

  async function forgetFresh(): Promise<void> {
    for (const [key, ofKey] of policies) {
      const policy = [...ofKey].find((each) => model.isFresh(key, each, nowMs))
      if (policy === undefined) continue
      model.apply({ type: 'forget', key, policy }, nowMs)
      await applyOne(store, { type: 'forget', key, policy })
      policies.delete(key)
    }
  }

  function compare(which: string, operation: Operation, result: Result): void {
    for (const { key, policy } of keysOf(operation))
      policies.set(key, (policies.get(key) ?? new Set()).add(policy))
    if ('atMs' in result) {
      if (isClockStill && nowMs > 0)
        expectEqual(`${which}: atMs by a clock that stands still`, result.atMs, nowMs)
      nowMs = result.atMs
      for (const { key } of keysOf(operation)) {
        const what = `${which}: atMs is not before that of the last result of ${key}`
        expectAtLeast(what, nowMs, lastMs.get(key) ?? nowMs)
        lastMs.set(key, nowMs)
        sinceAdvance.set(key, nowMs)
      }
    }
    isExact &&= isClockStill || isTimed(operation)
    // Operations of a batch on other keys may be applied later, so the time of an untimed one is its key's.
    const keyMs = keysOf(operation).map(({ key }) => sinceAdvance.get(key) ?? nowMs)
    const expected = model.apply(operation, 'atMs' in result ? nowMs : Math.min(...keyMs))
    const what = `${which}, ${describe(operation)}: the result of the policy`
    expectEqual(what, comparedPart(result, isExact), comparedPart(expected, isExact))
    receipts.push(...receiptsOf(operation, result))
    lastResult = result
  }

  for (const [i, step] of steps.entries()) {
    const next = typeof step === 'function' ? step(receipts, lastResult) : step
    if ('type' in next && next.type === 'advance') {
      await advance(next.ms)
      if (nowMs > 0) nowMs += next.ms
      sinceAdvance.clear()
      if (isClockStill) await forgetFresh()
      continue
    }
    if ('type' in next) {
      compare(`step ${i + 1}`, next, await applyOne(store, next))
      continue
    }
    for (const [j, result] of (await applyAll(store, next)).entries()) {
      const operation = next[j]
      if (operation !== undefined) compare(`step ${i + 1}.${j + 1}`, operation, result)
    }
  }
}

/**
 * Returns whether a result says when everything in it was applied: the servers of a Cluster charge parts one
 * by one.
 */
function isTimed(operation: Operation): boolean {
  if (operation.type === 'charge') return operation.parts.length <= 1
  return operation.type === 'take' || operation.type === 'reward' || operation.type === 'block'
}

function receiptsOf(operation: Operation, result: Result): Refund[] {
  if (operation.type === 'charge' && result.type === 'charge')
    return result.allowed ? refundsOf(operation.parts, result) : []
  if (operation.type === 'renew' && result.type === 'renew')
    return [{ ...operation, type: 'refund', resetAtMs: result.resetAtMs }]
  if (operation.type !== 'take' || result.type !== 'take') return []
  const { key, policy } = operation
  const { atMs, taken: cost, resetAfterMs, unitsAfterMs = resetAfterMs } = result
  return [{ type: 'refund', key, policy, cost, takenAtMs: atMs, resetAtMs: atMs + unitsAfterMs }]
}

/** Returns what is compared of a result: every figure, or those that time does not change. */
function comparedPart(result: Result, isExact: boolean): object {
  const { unitsAfterMs: _, ...compared }: Unchecked<TakeResult> = result // only for refunds, and optional
  if (result.type !== 'charge') return isExact ? compared : countsOf(result)
  const parts = result.parts.map(isExact ? figures : countsOf)
  return { allowed: result.allowed, parts }
}

function countsOf(result: object): object {
  const { type, allowed, remaining, taken }: Unchecked<PartResult> & Unchecked<TakeResult> = result
  return { type, allowed, remaining, taken }
}

function describe(operation: Operation): string {
  switch (operation.type) {
    case 'charge':
      return `a charge of ${operation.parts.map(({ key, cost }) => `${cost} of ${key}`).join(' and ')}`
    case 'take':
    case 'reward':
      return `a ${operation.type} of ${operation.units} of ${operation.key}`
    default:
      return `a ${operation.type} of ${operation.key}`
  }
}
