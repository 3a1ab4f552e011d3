import { fixedWindow, type Policy, tokenBucket } from 'headgate'
import type { StoreErrorChoice } from '../../../src/limiter/options.js'
import type { StoreKind } from './costs.js'

/** What is simulated. Times are in milliseconds. */
export interface Scenario {
  readonly processes: number
  /** Requests a second, of all processes together. */
  readonly rate: number
  readonly seconds: number
  readonly keys: number
  /** Zipf's exponent: 0 = all keys are equally busy. */
  readonly zipf: number
  readonly policy: 'token-bucket' | 'fixed-window'
  readonly limit: number
  readonly window: number
  readonly store: StoreKind
  readonly nodes: number
  /** The median and the 99th percentile of the network's latency, one way. */
  readonly latency: number
  readonly p99: number
  /** The most that a process's clock is ahead or behind. Counts where the store has no clock. */
  readonly skew: number
  /** How many times slower the first node is. */
  readonly slow: number
  /** Whether the first node answers nothing in the second third of the time. */
  readonly lost: boolean
  /** How long denials are cached. 0 = not. */
  readonly 'deny-cache': number
  readonly lease: boolean
  readonly 'on-store-error': StoreErrorChoice
  /** Requests of a process arrive together, so often. 0 = each at a time of its own. */
  readonly tick: number
  readonly seed: number
}

/** A busy site: ten processes, and ten thousand clients far below their limit. */
export const DEFAULTS: Scenario = {
  processes: 10,
  rate: 20_000,
  seconds: 5,
  keys: 10_000,
  zipf: 0,
  policy: 'token-bucket',
  limit: 100,
  window: 10_000,
  store: 'redis',
  nodes: 1,
  latency: 0.2,
  p99: 1,
  skew: 0,
  slow: 1,
  lost: false,
  'deny-cache': 1000,
  lease: false,
  'on-store-error': 'local',
  tick: 0,
  seed: 1,
}

/** Returns the policy of a scenario. */
export function policyOf({ policy, limit, window }: Scenario): Policy {
  if (policy === 'fixed-window') return fixedWindow({ limit, window: `${window}ms` })
  return tokenBucket({ capacity: limit, refill: limit, every: `${window}ms` })
}

/** Returns how much the policy's documentation lets a key take from the start until a time. */
export function boundOf({ policy, limit, window }: Scenario, untilMs: number): number {
  if (policy === 'fixed-window') return limit * Math.ceil(untilMs / window)
  return limit + Math.floor((untilMs * limit) / window)
}
