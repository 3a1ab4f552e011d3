import { isSamePolicy, type State } from '../../policies/policy.js'
import type { Charge, Part, Verdict } from '../store.js'
import { encodePolicy } from './policy-codec.js'
import { decodeState, decodeTime, foreignKeyError, type ScriptCall, type Trouble } from './script-call.js'

/**
 * Returns the call for charges of one part each, all of one policy; `undefined` for other charges.
 *
 * The reply holds the states that the script read, not its verdicts: the policy in TypeScript decides alike,
 * on the same states at the same time. So the script spends no time on figures.
 */
export function singlePolicyCall(charges: readonly Charge[]): ScriptCall<Verdict> | undefined {
  const [[first] = []] = charges
  if (first === undefined) return undefined
  const { policy } = first
  for (const charge of charges)
    if (charge.length !== 1 || !isSamePolicy((charge[0] as Part).policy, policy)) return undefined
  const parts = charges.map(([part]) => part as Part)
  const { keys, indexes, costs } = indexKeys(parts)
  const { width } = policy
  const { params, script } = encodePolicy(policy)

  function read(numbers: DataView, { foreign, refusal }: Trouble) {
    const atMs = decodeTime(numbers)
    const states: State[] = [] // by key, as the charges before have left them
    return parts.map(({ key, cost }, i) => {
      const index = indexes[i] as number
      if (foreign.includes(index)) return foreignKeyError(key)
      const state = states[index] ?? decodeState(numbers, index * width, width)
      const step = policy.take(state, atMs, cost)
      states[index] = refusal === undefined && step.next ? step.next : state
      if (step.next !== undefined && step.allowed && refusal) return refusal
      return { allowed: step.allowed, atMs, parts: [step] }
    })
  }

  return { script, keys, args: [costs, ...params], replyLength: 1 + keys.length * width, read }
}

/** Returns the distinct keys, the index of each part's key, and the costs as the script reads them. */
function indexKeys(parts: readonly Part[]): { keys: string[]; indexes: number[]; costs: string } {
  const indexOf = new Map<string, number>()
  let isPlain = true // each charge takes 1 unit from its own key
  const indexes = parts.map(({ key, cost }) => {
    const known = indexOf.get(key)
    isPlain &&= cost === 1 && known === undefined
    if (known !== undefined) return known
    indexOf.set(key, indexOf.size)
    return indexOf.size - 1
  })
  const costs = isPlain ? '' : JSON.stringify(costsByKey(parts, indexes))
  return { keys: [...indexOf.keys()], indexes, costs }
}

/** Returns the costs of each key in order, each followed by how many charges in a row have it. */
function costsByKey(parts: readonly Part[], indexes: readonly number[]): number[][] {
  const byKey: number[][] = []
  parts.forEach(({ cost }, i) => {
    const index = indexes[i] as number
    byKey[index] ??= []
    const costs = byKey[index]
    const last = costs.length - 1
    if (costs[last - 1] === cost) (costs[last] as number) += 1
    else costs.push(cost, 1)
  })
  return byKey
}
