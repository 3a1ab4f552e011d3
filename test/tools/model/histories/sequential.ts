/** One key's limit in its plainest form: a count. No window ends while a history is recorded. */
export interface Rules {
  readonly limit: number
  /** How many denials start a ban, which ends only if it is forgotten; 0 for a policy that is not a ban. */
  readonly after: number
  /**
   * Whether a denial may be caused by units that another charge is about to give back, and `remaining` be lower,
   * as with counters in memcached.
   */
  readonly isTentative: boolean
  /**
   * Whether a charge of several keys may see no row of a key from which it takes nothing, if another charge
   * inserts the row at the same time. A database cannot lock a row that is missing.
   */
  readonly mayMissRow?: boolean | undefined
  /**
   * Whether units are held until their release. If the reply to a charge comes too late, its units are released:
   * its caller does not know that it has them.
   */
  readonly holdsUnits?: boolean | undefined
  /** What calls under older numbers have instead. */
  readonly older?: Pick<Rules, 'limit' | 'after'> | undefined
}

/** What a charge of several keys takes of each, by the name of its limit. */
export type Costs = Readonly<Record<string, number>>

interface Units {
  readonly decision: number
  readonly cost: number
  /** Set in place of `cost` for several keys. */
  readonly costs?: Costs | undefined
}

/** What a caller asked for. Decisions have numbers, by which a refund finds its units. */
export type Call = Asked & {
  /** Whether it was made under older numbers. */
  readonly isOlder?: boolean | undefined
}

type Asked =
  | ({ readonly type: 'charge' | 'refund' } & Units)
  | { readonly type: 'adjust'; readonly decision: number; readonly cost: number; readonly actual: number }
  | { readonly type: 'penalize' | 'reward'; readonly units: number }
  | { readonly type: 'forget' | 'block' | 'peek' }

/** What a charge or a peek showed. Other calls show nothing. */
export interface Shown {
  readonly allowed: boolean
  readonly remaining: number
  /** What a charge of several keys showed of each. */
  readonly parts?: Readonly<Record<string, Shown>> | undefined
}

/** A call with the times of its invocation and its result, by a clock that all processes share. */
export interface Entry {
  readonly call: Call
  readonly invokedNs: number
  /** `Number.MAX_VALUE` if the call may take effect at any later time. */
  readonly returnedNs: number
  readonly shown?: Shown | undefined
  /** Set if the outcome is unknown: the call may have taken effect once, or never. */
  readonly isUnknown?: true
  /** Set if units that the process had leased decided the call. */
  readonly isLeased?: true
  /** Set if the entry releases the held units of a charge whose reply came too late. */
  readonly isRelease?: true
  /** Set if the entry gives back one unit of a call that gives back several, in no common moment. */
  readonly isPart?: true
  /** The name of the limit whose units the entry gives back, if their charge took units of several. */
  readonly limit?: string
}

/** The state of a key between two calls. */
export interface KeyState {
  readonly used: number
  readonly denials: number
  readonly isBanned: boolean
  /** Held units of charges whose outcome is unknown. */
  readonly late: number
  /** Units of decisions that were adjusted: what an adjustment takes is not shown. */
  readonly adjusted: Readonly<Record<number, number>>
}

export const FRESH: KeyState = { used: 0, denials: 0, isBanned: false, late: 0, adjusted: {} }

/** Returns the rules under which a call was made. */
export function rulesFor({ call }: Entry, rules: Rules): Rules {
  return call.isOlder ? { ...rules, ...rules.older } : rules
}

/** Returns the state after a call; `undefined` if the call cannot have shown this in that state. */
export function applyCall(entry: Entry, state: KeyState, current: Rules): KeyState | undefined {
  const { call, shown, isPart, isRelease, isUnknown } = entry
  const rules = rulesFor(entry, current)
  if (isRelease && call.type === 'charge') return releaseLate(call.cost, state)
  if (isPart && 'decision' in call) return giveBackOne(call, state, rules)
  switch (call.type) {
    case 'charge':
      return charge(call.cost, state, rules, shown, rules.holdsUnits && isUnknown)
    case 'peek':
      return shown === undefined || fits(shown.remaining, left(state, rules), rules) ? state : undefined
    case 'refund':
      return giveBack(state, state.adjusted[call.decision] ?? call.cost)
    case 'adjust':
      return adjust(call, state, rules)
    case 'penalize':
      return { ...state, used: state.used + Math.min(call.units, left(state, rules)) }
    case 'reward':
      return giveBack(state, call.units)
    case 'forget':
      return { ...FRESH, adjusted: state.adjusted }
    case 'block':
      return { ...state, denials: 0, isBanned: true }
  }
}

export function left({ used, isBanned }: KeyState, { limit }: Rules): number {
  return isBanned ? 0 : Math.max(0, limit - used)
}

function fits(remaining: number, expected: number, { isTentative }: Rules): boolean {
  return remaining === expected || (isTentative && remaining < expected)
}

function giveBack(state: KeyState, units: number): KeyState {
  return { ...state, used: Math.max(0, state.used - units) }
}

function releaseLate(units: number, state: KeyState): KeyState | undefined {
  return state.late < units ? undefined : { ...giveBack(state, units), late: state.late - units }
}

/** Gives back one unit, if the decision has more than the call leaves to it. */
function giveBackOne(call: Extract<Call, { decision: number }>, state: KeyState, rules: Rules): KeyState {
  const actual = call.type === 'adjust' ? call.actual : 0
  const held = state.adjusted[call.decision] ?? call.cost
  if (held > actual) return adjust({ ...call, type: 'adjust', actual: held - 1 }, state, rules)
  if (call.type !== 'adjust' || held === actual) return state
  return adjust(rules.isTentative ? { ...call, actual: held + 1 } : call, state, rules)
}

/** `shown` is `undefined` if the charge was certainly counted, or its outcome is unknown. */
function charge(
  cost: number,
  state: KeyState,
  rules: Rules,
  shown: Shown | undefined,
  isLate = false,
): KeyState | undefined {
  const isAllowed = cost <= left(state, rules)
  if (shown !== undefined && shown.allowed !== isAllowed)
    return rules.isTentative && !shown.allowed ? state : undefined
  const taken = { ...state, used: state.used + cost, late: state.late + (isLate ? cost : 0) }
  const next = isAllowed ? taken : denied(state, rules)
  return shown === undefined || fits(shown.remaining, left(next, rules), rules) ? next : undefined
}

function denied(state: KeyState, { after }: Rules): KeyState {
  if (after === 0 || state.isBanned) return state
  const denials = state.denials + 1
  return denials < after ? { ...state, denials } : { ...state, denials: 0, isBanned: true }
}

function adjust(
  { decision, cost, actual }: Extract<Call, { type: 'adjust' }>,
  state: KeyState,
  rules: Rules,
): KeyState {
  const before = state.adjusted[decision] ?? cost
  if (actual <= before) {
    const next = giveBack(state, before - actual)
    return { ...next, adjusted: { ...state.adjusted, [decision]: actual } }
  }
  const taken = Math.min(actual - before, left(state, rules))
  const adjusted = { ...state.adjusted, [decision]: before + taken }
  return { ...state, used: state.used + taken, adjusted }
}
