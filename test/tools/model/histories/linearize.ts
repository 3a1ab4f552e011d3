import { applyCall, type Entry, FRESH, type Rules } from './sequential.js'
import { applyToKeys, byKey, type SeveralRules, type States } from './several.js'

/** `'undecided'`: the search was too long. */
export type Verdict = 'ordered' | 'violation' | 'undecided'

const MAX_VISITS = 100_000

/**
 * Returns whether the calls of one key can be put in an order in which each takes effect at one moment between
 * its invocation and its result, and shows what it showed.
 */
export function linearize(entries: readonly Entry[], rules: Rules): Verdict {
  return order(inParts(sorted(entries), rules), FRESH, (entry, state) => applyCall(entry, state, rules))
}

/** Does the same for calls of several keys, whose charges take effect on all of them at one moment. */
export function linearizeSeveral(entries: readonly Entry[], rules: SeveralRules): Verdict {
  const fresh: States = Object.fromEntries(Object.keys(rules).map((name) => [name, FRESH]))
  return order(byKey(sorted(entries)), fresh, (entry, states) => applyToKeys(entry, states, rules))
}

const sorted = (entries: readonly Entry[]) => [...entries].sort((a, b) => a.invokedNs - b.invokedNs)

/**
 * A depth-first search, after Wing and Gong ("Testing and Verifying Concurrent Objects", 1993), that remembers
 * the states it has been in (Lowe, 2017). A call whose outcome is unknown may also have had no effect.
 */
function order<S>(
  calls: readonly Entry[],
  fresh: S,
  apply: (entry: Entry, state: S) => S | undefined,
): Verdict {
  if (calls.length > 52) throw new Error(`A history has ${calls.length} calls: cut it into shorter rounds.`)
  const visited = new Set<string>()
  const needed = calls.reduce((bits, { isUnknown }, i) => (isUnknown ? bits : bits + 2 ** i), 0)
  let visits = 0

  function search(done: number, state: S): boolean {
    if (includesAll(done, needed)) return true
    const id = `${done} ${JSON.stringify(state)}`
    if (visited.has(id) || ++visits > MAX_VISITS) return false
    visited.add(id)
    for (const i of next(done)) {
      const after = apply(calls[i] as Entry, state)
      if (after !== undefined && search(done + 2 ** i, after)) return true
    }
    return false
  }

  /**
   * Returns the calls that may be first among those that are left: none of the others has ended before. Those
   * of unknown outcome come last, and one of each kind is enough.
   */
  function next(done: number): number[] {
    const left = calls.map((_, i) => i).filter((i) => !hasBit(done, i))
    const certain = left.filter((i) => !calls[i]?.isUnknown)
    const firstEndNs = Math.min(...certain.map((i) => calls[i]?.returnedNs ?? 0))
    const first = left.filter((i) => (calls[i]?.invokedNs ?? 0) <= firstEndNs)
    const unknown = new Map<string, number>()
    for (const i of first) if (calls[i]?.isUnknown) unknown.set(kindOf(calls[i] as Entry), i)
    return [...first.filter((i) => !calls[i]?.isUnknown), ...unknown.values()]
  }

  if (search(0, fresh)) return 'ordered'
  return visits > MAX_VISITS ? 'undecided' : 'violation'
}

/** The most units that a decision has. */
const MOST_UNITS = 3

/**
 * Returns the entries, with one for each unit that a decision may give back after it was adjusted: what it took
 * by several operations, it gives back by several. Where denied charges hold units for a moment, a penalty and
 * an adjustment may take fewer units than are left. Held units whose charge has an unknown outcome may be released.
 */
function inParts(entries: readonly Entry[], { isTentative, holdsUnits }: Rules): readonly Entry[] {
  const adjusted = new Set<number>()
  return entries.flatMap((entry): readonly Entry[] => {
    const { call, isUnknown } = entry
    if (holdsUnits && isUnknown && call.type === 'charge') return [entry, { ...entry, isRelease: true }]
    if (isTentative && (call.type === 'penalize' || call.type === 'adjust')) {
      if (call.type === 'adjust') adjusted.add(call.decision)
      return optionalUnits(entry)
    }
    if (call.type !== 'adjust' && call.type !== 'refund') return [entry]
    const isInParts = adjusted.has(call.decision)
    if (call.type === 'adjust') adjusted.add(call.decision)
    return isInParts
      ? Array.from({ length: MOST_UNITS }, () => ({ ...entry, isPart: true as const }))
      : [entry]
  })
}

/** Returns an entry for each unit, which may have been taken or not. */
function optionalUnits(entry: Entry): readonly Entry[] {
  const { call } = entry
  if (call.type === 'penalize') {
    const one: Entry = { ...entry, call: { ...call, units: 1 }, isUnknown: true }
    return Array.from({ length: call.units }, () => one)
  }
  return Array.from({ length: MOST_UNITS }, () => ({ ...entry, isPart: true, isUnknown: true }))
}

/** A call without the number of its decision, which nobody can refund if its outcome is unknown. */
function kindOf({ call, isRelease }: Entry): string {
  return JSON.stringify(call.type === 'charge' ? { ...call, decision: 0, isRelease } : call)
}

function hasBit(bits: number, i: number): boolean {
  return Math.floor(bits / 2 ** i) % 2 === 1
}

function includesAll(bits: number, needed: number): boolean {
  for (let i = 0; 2 ** i <= needed; i++) if (hasBit(needed, i) && !hasBit(bits, i)) return false
  return true
}

/** Returns the most units that were certainly held at one time: from a charge's result until its release. */
export function mostHeld(entries: readonly Entry[]): number {
  const releases = new Map<number, number>()
  for (const { call, invokedNs } of entries)
    if (call.type === 'refund') releases.set(call.decision, invokedNs)
  const changes: [atNs: number, units: number][] = []
  for (const { call, shown, returnedNs } of entries) {
    if (call.type !== 'charge' || !shown?.allowed) continue
    changes.push(
      [returnedNs, call.cost],
      [releases.get(call.decision) ?? Number.POSITIVE_INFINITY, -call.cost],
    )
  }
  changes.sort(([a, x], [b, y]) => a - b || x - y)
  let held = 0
  let most = 0
  for (const [, units] of changes) {
    held += units
    most = Math.max(most, held)
  }
  return most
}
