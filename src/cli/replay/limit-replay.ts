import type { Policy, State } from '../../policies/policy.js'
import { ClientNumbers } from './client-table.js'

/** Where a client's numbers lie: how often it was decided, how often denied, then the policy's state. */
const REQUESTS = 0
const DENIED = 1
const STATE = 2

/** A client, by its number, with what a limit decided for it. */
export interface ClientCount {
  readonly id: number
  readonly requests: number
  readonly denied: number
}

/**
 * Decides requests under one policy, as the memory store does, but keeps the state of each client: a store
 * drops fresh states, which changes no decision, and has a bound, which a replay must not meet.
 */
export class LimitReplay {
  readonly policy: Policy
  denied = 0
  deniedClients = 0
  firstDeniedMs = Number.NaN
  lastDeniedMs = Number.NaN
  readonly #numbers: ClientNumbers
  /** A state, which the next decision reuses. */
  readonly #state: number[]
  /** The states of a policy whose states differ in length. */
  readonly #longStates = new Map<number, State>()

  constructor(policy: Policy) {
    this.policy = policy
    const { width = 0 } = policy
    this.#numbers = new ClientNumbers(STATE + width)
    this.#state = Array.from({ length: width }, () => 0.5) // a fraction makes V8 keep an array of doubles
  }

  /** Decides one request of a client. Returns whether it is allowed. `nowMs` never goes back. */
  decide(id: number, nowMs: number): boolean {
    const page = this.#numbers.pageOf(id)
    const at = this.#numbers.offsetOf(id)
    const allowed = this.policy.width === undefined ? this.#takeLong(id, nowMs) : this.#take(page, at, nowMs)
    page[at + REQUESTS] = (page[at + REQUESTS] ?? 0) + 1
    if (!allowed) this.#countDenial(page, at, nowMs)
    return allowed
  }

  #take(page: Float64Array, at: number, nowMs: number): boolean {
    const state = this.#state
    for (let i = 0; i < state.length; i++) state[i] = page[at + STATE + i] ?? 0
    const { allowed, next } = this.policy.take(state, nowMs, 1)
    if (next !== undefined) page.set(next, at + STATE)
    return allowed
  }

  #takeLong(id: number, nowMs: number): boolean {
    const { allowed, next } = this.policy.take(this.#longStates.get(id), nowMs, 1)
    if (next !== undefined) this.#longStates.set(id, next)
    return allowed
  }

  #countDenial(page: Float64Array, at: number, nowMs: number): void {
    if (page[at + DENIED] === 0) this.deniedClients++
    page[at + DENIED] = (page[at + DENIED] ?? 0) + 1
    if (this.denied === 0) this.firstDeniedMs = nowMs
    this.lastDeniedMs = nowMs
    this.denied++
  }

  /** Returns the clients denied most often, at most `count` of them, of `clients` in all. */
  mostDenied(clients: number, count: number): ClientCount[] {
    const most: ClientCount[] = []
    for (let id = 0; id < clients; id++) {
      const denied = this.#numbers.get(id, DENIED)
      if (denied === 0 || (most.length === count && denied <= (most.at(-1)?.denied ?? 0))) continue
      most.push({ id, denied, requests: this.#numbers.get(id, REQUESTS) })
      most.sort((a, b) => b.denied - a.denied || a.id - b.id)
      most.length = Math.min(most.length, count)
    }
    return most
  }
}
