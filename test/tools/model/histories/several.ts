import { applyCall, type Entry, type KeyState, left, type Rules, rulesFor, type Shown } from './sequential.js'

/** The states of keys that charges take together, by the names of their limits. */
export type States = Readonly<Record<string, KeyState>>

/** The rules of the keys, by the names of their limits. */
export type SeveralRules = Readonly<Record<string, Rules>>

/**
 * Returns the states after a charge of several keys, or a refund to one of them; `undefined` if the call cannot
 * have shown this in those states. A charge takes its units of all keys, or of none.
 */
export function applyToKeys(entry: Entry, states: States, rules: SeveralRules): States | undefined {
  const { call, shown, limit } = entry
  const at = (name: string) => [states[name] as KeyState, rulesFor(entry, rules[name] as Rules)] as const
  if (limit !== undefined) return withState(states, limit, applyCall(entry, ...at(limit)))
  if (call.type !== 'charge') throw new Error(`A ${call.type} of several keys takes no effect at one moment.`)
  const costs = Object.entries(call.costs ?? {})
  const isDenied = ([name, cost]: (typeof costs)[number]) => cost > left(...at(name))
  const isAllowed = !costs.some(isDenied)
  if (shown !== undefined && shown.allowed !== isAllowed) return undefined
  let next: States | undefined = states
  for (const [name, cost] of costs) {
    const part = shown?.parts?.[name]
    if (!(isAllowed && cost > 0) && isMissedRow(part, at(name)[1])) continue
    const taken = isAllowed || isDenied([name, cost]) ? cost : 0 // what another key denies takes nothing here
    const own: Entry = { ...entry, call: { ...call, cost: taken }, shown: part }
    next = next && withState(next, name, applyCall(own, ...at(name)))
  }
  return next
}

/** Whether a part shows what a key without a row shows, and may. */
function isMissedRow(part: Shown | undefined, { mayMissRow, limit }: Rules): boolean {
  return mayMissRow === true && part?.allowed === true && part.remaining === limit
}

function withState(states: States, name: string, state: KeyState | undefined): States | undefined {
  return state && { ...states, [name]: state }
}

/** Returns the entries, with one for each key to which a refund gives units back, in no common moment. */
export function byKey(entries: readonly Entry[]): readonly Entry[] {
  return entries.flatMap((entry): readonly Entry[] => {
    const { call } = entry
    if (call.type !== 'refund') return [entry]
    const costs = Object.entries(call.costs ?? {}).filter(([, cost]) => cost > 0)
    return costs.map(([limit, cost]) => ({ ...entry, call: { ...call, cost }, limit }))
  })
}
