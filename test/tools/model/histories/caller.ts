import type { Decision } from 'headgate'
import type { Random } from '../../simulate/random.js'
import type { Limiters, Subject } from './limiters.js'
import { HALF, type HotLimit } from './limits.js'
import type { Call, Costs, Entry, Shown } from './sequential.js'

/** One of several callers of a key. */
export interface Caller {
  readonly limiters: Limiters
  readonly rules: HotLimit
  readonly identity: string
  readonly random: Random
  /** The number of its first decision. */
  readonly firstDecision: number
  /** Where it records its calls. */
  readonly entries: Entry[]
  /** Whether the store has failed lately: then a refund may be sent after its call has returned, or be lost. */
  hasFailed(): boolean
}

/** The share of the calls under older numbers. */
const OLDER_SHARE = 1 / 3

/** An allowed decision that may still be changed. */
interface Held {
  readonly decision: Decision
  readonly call: Extract<Call, { type: 'charge' | 'refund' }>
}

/** Makes calls one after the other, each of them random, and records them. */
export async function caller(of: Caller, calls: number): Promise<void> {
  const held: Held[] = []
  for (let i = 0; i < calls; i++) {
    const isOlder = of.random() < OLDER_SHARE
    const call = { isOlder, ...drawCall(of, held, of.firstDecision + i) } // a refund has its charge's numbers
    const invokedNs = Number(process.hrtime.bigint())
    const result = await run(of, held, call)
    if (result === undefined) continue
    const isUnknown = result.isUnknown || (!isShown(call) && of.hasFailed())
    const returnedNs = isUnknown ? Number.MAX_VALUE : Number(process.hrtime.bigint()) // JSON has no Infinity
    of.entries.push({ call, invokedNs, returnedNs, ...result, ...(isUnknown && { isUnknown }) })
  }
}

/** Whether the result of a call shows that it took effect. */
const isShown = ({ type }: Call) => type === 'charge' || type === 'peek'

function drawCall({ rules, random }: Caller, held: readonly Held[], number: number): Call {
  const drawn = rules.calls[Math.floor(random() * rules.calls.length)] as Call['type']
  const cost = random() < 0.8 ? 1 : 2
  const costs = rules.together && drawCosts(rules.together, random)
  const oldest = held[0]?.call
  switch (drawn) {
    case 'refund':
      return oldest ? { ...oldest, type: drawn } : { type: 'charge', cost, costs, decision: number }
    case 'adjust':
      if (oldest === undefined) return { type: 'charge', cost, decision: number }
      return {
        type: drawn,
        decision: oldest.decision,
        cost: oldest.cost,
        actual: Math.floor(random() * 4),
        isOlder: oldest.isOlder,
      }
    case 'charge':
      return { type: drawn, cost, costs, decision: number }
    case 'penalize':
    case 'reward':
      return { type: drawn, units: 1 + Math.floor(random() * 3) }
    default:
      return { type: drawn }
  }
}

/** Draws what a charge takes of several keys: of each up to two units, or the charge has no part for it. */
function drawCosts(names: readonly string[], random: Random): Costs {
  const drawn = names.map((name) => [name, Math.floor(random() * 4) - 1] as const)
  const costs = drawn.filter(([, cost]) => cost >= 0)
  return costs.length > 0 ? Object.fromEntries(costs) : drawCosts(names, random)
}

type Result = Pick<Entry, 'shown' | 'isUnknown' | 'isLeased'>

/** Makes a call. If it fails, its outcome is unknown; `undefined` if it has certainly had no effect. */
async function run(of: Caller, held: Held[], call: Call): Promise<Result | undefined> {
  try {
    return await make(of, held, call)
  } catch {
    return { isUnknown: true }
  }
}

async function make(
  { limiters, rules, identity }: Caller,
  held: Held[],
  call: Call,
): Promise<Result | undefined> {
  const limiter = call.isOlder ? limiters.older : limiters.current
  const subject: Subject = { identity, costs: 'costs' in call ? call.costs : undefined }
  switch (call.type) {
    case 'charge': {
      const { cost, costs } = call
      const decision = await limiter.charge(subject, costs ? {} : { cost }) // `costs` are the subject's
      const isLeased = decision.source === 'lease'
      if (decision.source !== 'store' && !isLeased)
        return subject.error?.unsent ? undefined : { isUnknown: true }
      if (decision.allowed) held.push({ decision, call })
      return { shown: shownBy(decision, costs), ...(isLeased && { isLeased }) }
    }
    case 'peek': {
      const decision = await limiter.peek(subject)
      return decision.source === 'store' ? { shown: shownBy(decision) } : undefined
    }
    case 'refund': {
      const { decision } = held.shift() as Held
      await (rules.policy.holdsUnits ? limiter.release(decision) : limiter.refund(decision))
      return {}
    }
    case 'adjust':
      await limiter.adjust((held[0] as Held).decision, call.actual)
      return {}
    case 'penalize':
      await limiter.penalize(subject, call.units)
      return {}
    case 'reward':
      await limiter.reward(subject, call.units)
      return {}
    case 'forget':
      await limiter.forget(subject)
      return {}
    case 'block':
      await limiter.blockFor(subject, HALF)
      return {}
  }
}

function shownBy({ allowed, remaining, parts }: Decision, costs?: Costs): Shown {
  if (costs === undefined) return { allowed, remaining }
  const shown = parts.map(({ name, allowed, remaining }) => [name, { allowed, remaining }])
  return { allowed, remaining, parts: Object.fromEntries(shown) }
}
