import { hasOwnNumbers, type Policy, type State, signatureOf } from '../../policies/policy.js'
import { baseOf, type PolicySpec } from '../../policies/spec.js'

/**
 * A policy, and the numbers that states were written under: its own, or those that it has carried units over
 * with. All states of an entry have these numbers in the same places, so that a page keeps the others alone.
 */
export interface RegistryEntry {
  readonly policy: Policy
  readonly id: number
  /** The places of the numbers that a page keeps for each key. */
  readonly perKey: readonly number[]
  /** The places of the other numbers. */
  readonly shared: readonly number[]
  /** A state with the shared numbers, in which a reader fills in the places of `perKey`. */
  readonly buffer: number[]
  readonly name: string
  states: number
}

/**
 * Numbers policies: a state needs no more to name the policy that reads it. Policies of equal specs decide
 * alike and share a number. A number is reused once its last state is gone, so that policies made for each
 * request do not accumulate.
 */
export class PolicyRegistry {
  readonly #entries: RegistryEntry[] = []
  readonly #freeIds: number[] = []
  readonly #byName = new Map<string, RegistryEntry>()
  /** How many numbers per key the states of each kind of policy may have, and those of each kind's bans. */
  readonly #widths = new Map<string, number[]>()
  readonly #banWidths = new Map<string, number[]>()

  entryOf(id: number): RegistryEntry {
    return this.#entries[id] as RegistryEntry
  }

  /** Counts one more state of a policy. Returns the entry of the policy and the state's numbers. */
  acquire(policy: Policy, state: State): RegistryEntry {
    const name = nameOf(policy, state)
    const entry = this.#byName.get(name) ?? this.#add(name, policy, state)
    entry.states++
    return entry
  }

  release({ id }: Pick<RegistryEntry, 'id'>): void {
    const entry = this.#entries[id]
    if (entry === undefined || --entry.states > 0) return
    this.#freeIds.push(id)
    this.#byName.delete(entry.name)
  }

  /** Returns the widths in which a key of a kind of policy may have its state; `undefined` if only in `width`. */
  otherWidths(spec: PolicySpec, width: number): readonly number[] | undefined {
    const widths = this.#widthsOf(spec).get(baseOf(spec).kind)
    const isOnly = widths === undefined || (widths.length === 1 && widths[0] === width)
    return isOnly ? undefined : widths
  }

  #add(name: string, policy: Policy, state: State): RegistryEntry {
    const perKey = perKeyOf(policy)
    const shared = Array.from(state.keys()).filter((place) => !perKey.includes(place))
    const buffer = Array.from(state, () => 0.5) // a fraction makes V8 keep an array of doubles
    for (const place of shared) buffer[place] = state[place] ?? 0
    const id = this.#freeIds.pop() ?? this.#entries.length
    const entry = { policy, id, perKey, shared, buffer, name, states: 0 }
    this.#entries[id] = entry
    this.#byName.set(name, entry)
    const byKind = this.#widthsOf(policy.spec)
    const { kind } = baseOf(policy.spec)
    const widths = byKind.get(kind) ?? []
    if (!widths.includes(perKey.length)) byKind.set(kind, [...widths, perKey.length])
    return entry
  }

  #widthsOf({ kind }: PolicySpec): Map<string, number[]> {
    return kind === 'ban' ? this.#banWidths : this.#widths
  }
}

/** Returns how many numbers per key the states of a policy have. */
export function widthPerKey({ perKey, width }: Policy): number {
  return perKey?.length ?? width
}

/** Returns whether a state has the numbers of an entry. */
export function hasNumbersOf({ shared, buffer }: RegistryEntry, state: State): boolean {
  if (state.length !== buffer.length) return false
  for (const place of shared) if (state[place] !== buffer[place]) return false
  return true
}

function perKeyOf({ perKey, width }: Policy): readonly number[] {
  return perKey ?? Array.from({ length: width }, (_, i) => i)
}

/** Returns a text that identifies the decisions of a policy, and the numbers of a state if they are others. */
function nameOf(policy: Policy, state: State): string {
  const signature = signatureOf(policy)
  if (hasOwnNumbers(policy, state)) return signature
  const { perKey } = policy
  return [signature, ...state.filter((_, place) => perKey?.includes(place) === false)].join(':')
}
