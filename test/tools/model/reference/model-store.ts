import type { Charge, KeyedPolicy, Operation, Part, Refund, Take } from '../../../../src/stores/operation.js'
import type { Figures } from './reference.js'
import { type AnyReference, referenceOf } from './reference-of.js'

/** What a part of a charge shows. */
export interface ExpectedPart extends Omit<Figures, 'bannedForMs'> {
  readonly allowed: boolean
  readonly retryAfterMs: number
  /** Whether `retryAfterMs` is only a lower bound. */
  readonly isBound?: boolean
}

/** What the model expects of an operation's result. */
export type Expected =
  | { readonly type: 'charge'; readonly allowed: boolean; readonly parts: readonly ExpectedPart[] }
  | ({ readonly type: 'take'; readonly taken: number } & Figures)
  | ({ readonly type: 'reward' | 'block' } & Figures)
  | { readonly type: 'renew'; readonly resetAtMs: number }
  | { readonly type: 'refund' | 'forget' }

/** When each part of a charge was decided, if not all were at the same time. */
export type TimeOfPart = (index: number) => number

/** Keys and their states, and the operations on them, one after the other. */
export class ModelStore {
  readonly #states = new Map<string, unknown>()
  readonly #references = new Map<string, AnyReference>()

  /** `isAtomic`: whether a charge of several keys is decided in one moment, not key by key. */
  constructor(readonly isAtomic: boolean) {}

  /** Applies an operation and returns what its result must be. */
  apply(operation: Operation, nowMs: number, timeOf: TimeOfPart = () => nowMs): Expected {
    if (operation.type === 'charge')
      return this.isAtomic ? this.#charge(operation, nowMs) : this.#chargeByKey(operation, nowMs, timeOf)
    return this.#change(operation, nowMs)
  }

  /** Returns what is left of a key. */
  figures(keyed: KeyedPolicy, nowMs: number): Figures {
    return this.#of(keyed).figures(this.#state(keyed), nowMs)
  }

  #of({ policy }: KeyedPolicy): AnyReference {
    const id = JSON.stringify(policy.spec)
    const known = this.#references.get(id) ?? referenceOf(policy.spec)
    this.#references.set(id, known)
    return known
  }

  #state(keyed: KeyedPolicy): unknown {
    return this.#states.has(keyed.key) ? this.#states.get(keyed.key) : this.#of(keyed).fresh()
  }

  /** Keeps a state, unless it is fresh. */
  #keep(keyed: KeyedPolicy, state: unknown, nowMs: number): void {
    const { resetAfterMs } = this.#of(keyed).figures(state, nowMs)
    if (resetAfterMs > 0) this.#states.set(keyed.key, state)
    else this.#states.delete(keyed.key)
  }

  #charge({ parts }: Charge, nowMs: number): Expected {
    const working = new Map<string, unknown>()
    const steps = parts.map((part) => {
      const before = working.has(part.key) ? working.get(part.key) : this.#state(part)
      const after = part.cost === 0 ? before : this.#of(part).take(before, nowMs, part.cost)
      if (after !== undefined) working.set(part.key, after)
      return after
    })
    if (steps.includes(undefined)) return this.#denied(parts, steps, nowMs)
    const taking = new Set(parts.filter(({ cost }) => cost > 0).map(({ key }) => key))
    for (const part of parts) if (taking.has(part.key)) this.#keep(part, working.get(part.key), nowMs)
    return {
      type: 'charge',
      allowed: true,
      parts: parts.map((part, i) => this.#shown(part, steps[i], nowMs)),
    }
  }

  /** Shows each part as if the charge had not happened, and keeps what its denied parts count. */
  #denied(parts: readonly Part[], steps: readonly unknown[], nowMs: number): Expected {
    const wanted = new Map<string, number>()
    const denials: (() => void)[] = []
    const shown = parts.map((part, i): ExpectedPart => {
      const sum = (wanted.get(part.key) ?? 0) + part.cost
      const before = this.#state(part)
      if (steps[i] !== undefined) {
        wanted.set(part.key, sum)
        return this.#shown(part, before, nowMs)
      }
      const after = this.#of(part).deny(before, nowMs)
      if (after !== before) denials.push(() => this.#keep(part, after, nowMs))
      const retryAfterMs = this.#of(part).retryAfterMs(after, nowMs, sum)
      return { ...this.#shown(part, after, nowMs), allowed: false, retryAfterMs }
    })
    for (const keep of denials) keep()
    return { type: 'charge', allowed: false, parts: shown }
  }

  #shown(part: Part, state: unknown, nowMs: number): ExpectedPart {
    const { bannedForMs: _, ...figures } = this.#of(part).figures(state, nowMs)
    return { allowed: true, retryAfterMs: 0, ...figures }
  }

  /** Charges one key after the other. After a denial, refunds those before it, and reads all others. */
  #chargeByKey({ parts }: Charge, nowMs: number, timeOf: TimeOfPart): Expected {
    const shown: ExpectedPart[] = []
    const taken: Refund[] = []
    const keys = [...new Set(parts.map(({ key }) => key))]
    for (const key of keys) {
      const places = [...parts.keys()].filter((i) => parts[i]?.key === key)
      const own = places.map((i) => parts[i] as Part)
      const atMs = timeOf(places[0] as number)
      const verdict = this.#charge({ type: 'charge', parts: own }, atMs)
      const figures = verdict.type === 'charge' ? verdict.parts : []
      for (const [j, i] of places.entries()) shown[i] = figures[j] as ExpectedPart
      if (verdict.type === 'charge' && !verdict.allowed) {
        for (const each of taken) this.#change(each, nowMs)
        const others = [...parts.keys()].filter((i) => parts[i]?.key !== key)
        for (const i of others) shown[i] = this.#read(parts[i] as Part, timeOf(i))
        return { type: 'charge', allowed: false, parts: shown }
      }
      for (const [j, part] of own.entries())
        taken.push({
          ...part,
          type: 'refund',
          takenAtMs: atMs,
          resetAtMs: atMs + (figures[j]?.resetAfterMs ?? 0),
        })
    }
    return { type: 'charge', allowed: true, parts: shown }
  }

  #read(part: Part, nowMs: number): ExpectedPart {
    const shown = this.#shown(part, this.#state(part), nowMs)
    if (part.cost <= shown.remaining) return shown
    const retryAfterMs = part.cost > this.#of(part).limit ? Number.POSITIVE_INFINITY : shown.moreAfterMs
    return { ...shown, allowed: false, retryAfterMs, isBound: true }
  }

  #change(operation: Exclude<Operation, Charge>, nowMs: number): Expected {
    const { type } = operation
    const reference = this.#of(operation)
    const before = this.#state(operation)
    const keep = (state: unknown) => this.#keep(operation, state, nowMs)
    switch (type) {
      case 'forget':
        this.#states.delete(operation.key)
        return { type }
      case 'refund':
        if (this.#states.has(operation.key))
          this.#states.set(operation.key, reference.refund(before, nowMs, operation))
        return { type }
      case 'take':
        return this.#take(operation, nowMs)
      case 'reward':
        if (operation.units > 0) keep(reference.reward(before, nowMs, operation.units))
        return { type, ...this.figures(operation, nowMs) }
      case 'block':
        keep(reference.block?.(before, nowMs, operation.forMs))
        return { type, ...this.figures(operation, nowMs) }
      case 'renew':
        keep(reference.renew?.(before, nowMs, operation))
        return { type, resetAtMs: nowMs + this.figures(operation, nowMs).resetAfterMs }
    }
  }

  #take(operation: Take, nowMs: number): Expected {
    const reference = this.#of(operation)
    const before = this.#state(operation)
    const { remaining } = reference.figures(before, nowMs)
    const taken = Math.min(operation.units, remaining)
    const settled = reference.settle(before, nowMs)
    if (operation.units > 0)
      this.#keep(operation, taken > 0 ? reference.take(settled, nowMs, taken) : settled, nowMs)
    return { type: 'take', taken, ...this.figures(operation, nowMs) }
  }
}
