import type { Policy, State } from '../../../../src/policies/policy.js'

/** What a policy has left for a client at one moment. */
export interface Reading {
  /** How full the bucket is, or how much of the window is free: 0 to 1. */
  readonly level: number
  /** Whole requests left. */
  readonly remaining: number
  /** Until the next request is allowed, exactly. 0 if it is allowed now. */
  readonly retryAfterMs: number
}

/** One client of a policy, and what the policy keeps about it. */
export interface Client {
  /** Sends a request. Returns whether it is allowed. */
  send(nowMs: number): boolean
  read(nowMs: number): Reading
}

export function createClient(policy: Policy): Client {
  let state: State | undefined
  return {
    send(nowMs) {
      const { allowed, next } = policy.take(state, nowMs, 1)
      state = next ?? state
      return allowed
    },

    read(nowMs) {
      const { remaining, resetAfterMs } = policy.take(state, nowMs, 0)
      const { retryAfterMs } = policy.take(state, nowMs, 1)
      const isRefilled = policy.spec.kind === 'token-bucket' // evenly, so its level is between whole tokens
      const level = isRefilled ? 1 - resetAfterMs / policy.windowMs : remaining / policy.limit
      return { level, remaining, retryAfterMs }
    },
  }
}
