import { isSamePolicy } from '../../policies/policy.js'
import { groupBy, indexIn } from '../../util/group-by.js'
import type { Operation, Outcome, Part } from '../operation.js'
import { foreignKeyError } from '../shared/state-codec.js'
import { encodePolicy } from './policy-codec.js'
import type { Reading, ScriptCall } from './script-call.js'

/**
 * Returns the call for charges of one part each, all of one policy; `undefined` for other operations. `atMs` is
 * as for `encodePolicy`.
 *
 * The reply holds the states that the script read, not its verdicts: the policy in TypeScript decides alike,
 * on the same states at the same time. So the script spends no time on figures.
 */
export function singlePolicyCall(operations: readonly Operation[], atMs?: number): ScriptCall | undefined {
  const parts: Part[] = []
  let first: Part | undefined
  for (const operation of operations) {
    const [part, second] = operation.type === 'charge' ? operation.parts : []
    if (part === undefined || second !== undefined) return undefined
    first ??= part
    if (first !== part && !isSamePolicy(part.policy, first.policy)) return undefined
    parts.push(part)
  }
  if (first === undefined) return undefined
  if (parts.length === 1) return lonePartCall(first, atMs)
  const { policy } = first
  const indexByKey = new Map<string, number>()
  const indexes = parts.map(({ key }) => indexIn(indexByKey, key))
  const keys = [...indexByKey.keys()]
  const isPlain = keys.length === parts.length && parts.every(({ cost }) => cost === 1)
  const costs = isPlain ? '' : JSON.stringify(costsByKey(parts))
  const { params, script } = encodePolicy(policy, atMs)

  const outcomesFrom = (reading: Reading) => parts.map((part, i) => takeFrom(reading, indexes[i] ?? -1, part))

  return { script, keys, args: [costs, ...params], widths: keys.map(() => policy.width), outcomesFrom }
}

/** Returns the call for one charge of one part, as when a limiter has a single caller. */
function lonePartCall(part: Part, atMs: number | undefined): ScriptCall {
  const { key, policy, cost } = part
  const { params, script } = encodePolicy(policy, atMs)
  const args = [cost === 1 ? '' : JSON.stringify([[cost, 1]]), ...params]
  return {
    script,
    keys: [key],
    args,
    widths: [policy.width],
    outcomesFrom: (reading) => [takeFrom(reading, 0, part)],
  }
}

/** Takes a part of the state that the script read, as the script did. The next part finds what is left. */
function takeFrom({ atMs, states, refusal }: Reading, index: number, { key, policy, cost }: Part): Outcome {
  const state = states[index]
  if (state === undefined) return foreignKeyError('redis', key)
  const step = policy.take(state, atMs, cost)
  if (step.next !== undefined && step.allowed && refusal) return refusal
  if (step.next !== undefined && !refusal) states[index] = step.next
  return { type: 'charge', allowed: step.allowed, atMs, parts: [step] }
}

/** Returns the costs of each key in order, each followed by how many charges in a row have it. */
function costsByKey(parts: readonly Part[]): number[][] {
  return Array.from(groupBy(parts, ({ key }) => key).values(), (ofKey) => {
    const costs: number[] = []
    for (const { cost } of ofKey) {
      const repeats = costs.at(-2) === cost ? costs.pop() : undefined
      if (repeats === undefined) costs.push(cost, 1)
      else costs.push(repeats + 1)
    }
    return costs
  })
}
