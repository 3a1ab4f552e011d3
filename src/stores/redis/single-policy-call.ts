import { isSamePolicy, type State } from '../../policies/policy.js'
import type { Charge, Part, Verdict } from '../store.js'
import { packedPolicy } from './policy-codec.js'
import { foreignKey, type ScriptCall, stateIn, type Trouble, timeIn } from './script-call.js'

/**
 * The call for charges of one part each, all of one policy. Gives `undefined` for other charges.
 *
 * The reply carries no verdicts. It tells what the script read, and the TypeScript works out what it decided: both run the
 * same policy on the same states at the same time. So the script need not spend time on figures, nor the reply carry them.
 */
export function onePolicyCall(charges: readonly Charge[]): ScriptCall<Verdict> | undefined {
  const [[first] = []] = charges
  if (first === undefined) return undefined
  const { policy } = first
  for (const charge of charges)
    if (charge.length !== 1 || !isSamePolicy((charge[0] as Part).policy, policy)) return undefined
  const parts = charges.map(([part]) => part as Part)
  const { keys, places, costs } = byKey(parts)
  const { width } = policy
  const { params, script } = packedPolicy(policy)

  function read(numbers: DataView, { foreign, refusal }: Trouble) {
    const atMs = timeIn(numbers)
    const states: State[] = [] // by place: what the charges before have left
    return parts.map(({ key, cost }, i) => {
      const place = places[i] as number
      if (foreign.includes(place)) return foreignKey(key)
      const state = states[place] ?? stateIn(numbers, place * width, width)
      const step = policy.take(state, atMs, cost)
      states[place] = refusal === undefined && step.next ? step.next : state
      if (step.next !== undefined && step.allowed && refusal) return refusal
      return { allowed: step.allowed, atMs, parts: [step] }
    })
  }

  return { script, keys, args: [costs, ...params], replyLength: 1 + keys.length * width, read }
}

/** The keys, each once; the place of each part's key; and the costs of each key as the script reads them. */
function byKey(parts: readonly Part[]): { keys: string[]; places: number[]; costs: string } {
  const keys: string[] = []
  const placeOf = new Map<string, number>()
  let isPlain = true // each charge takes 1 unit from a key of its own
  const places = parts.map(({ key, cost }) => {
    isPlain &&= cost === 1
    const known = placeOf.get(key)
    if (known !== undefined) {
      isPlain = false
      return known
    }
    placeOf.set(key, keys.length)
    return keys.push(key) - 1
  })
  return { keys, places, costs: isPlain ? '' : JSON.stringify(costsByPlace(parts, places)) }
}

/** For each key its costs in their order, each with how many charges in a row have it. */
function costsByPlace(parts: readonly Part[], places: readonly number[]): number[][] {
  const all: number[][] = []
  parts.forEach(({ cost }, i) => {
    const place = places[i] as number
    const costs = all[place] ?? []
    all[place] = costs
    const last = costs.length - 1
    if (costs[last - 1] === cost) costs[last] = (costs[last] as number) + 1
    else costs.push(cost, 1)
  })
  return all
}
