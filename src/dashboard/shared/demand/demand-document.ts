import type { BaseSpec } from '../../../policies/spec.js'
import type { Curve } from '../../../tuning/demand-curve.js'
import { type DistinctSample, NO_NAMES } from '../../../util/distinct-sample.js'
import type { AddedSteps } from '../added-steps.js'

/** Returns the key of the demands of a limiter. */
export function demandKey(prefix: string, limiter: string): string {
  return `${prefix}:dashboard:demands/${limiter}`
}

/** Two periods are kept, so that the demands are of the last 12 to 24 hours. */
export const PERIOD_STEPS = 144
/** The clients with the largest peaks, and the most in the sample of all. */
export const MAX_LARGEST = 100
export const MAX_SAMPLE = 900
/** The most clients of all limits in samples, so that the document stays small. */
const MAX_SAMPLES = 2400
/** The most limits of a limiter. */
export const MAX_LIMITS = 8
/** All hashes are below this. */
export const HASHES = NO_NAMES.below

/** A client: what it asked for at most, in one step of all processes together. */
export interface CountedClient {
  readonly identity: string
  readonly peaks: Curve
  readonly wasDenied: boolean
  /** The last step that it was counted in, and the sum of all processes in it. */
  readonly step: number
  readonly sums: Curve
}

/** The clients of a limit in 12 hours. */
export interface Period {
  readonly period: number
  /** For the number of distinct clients. */
  readonly all: DistinctSample
  /** Clients whose hash is below this are a sample of all. */
  readonly below: number
  readonly clients: readonly CountedClient[]
}

export interface LimitPeriods {
  readonly limitName: string
  readonly isCandidate?: true
  readonly policy: BaseSpec
  /** When the settings brought the limit into force, if they did. What was asked for before does not count. */
  readonly sinceMs?: number
  readonly fromMs: number
  readonly lastStep: number
  readonly periods: readonly Period[]
}

/** What the clients of a limiter asked for, in all processes. */
export interface LimiterDemands {
  readonly added: AddedSteps
  readonly limits: readonly LimitPeriods[]
}

/** How many clients the sample of a limit may have, given the number of limits. */
export function sampleSize(limits: number): number {
  return Math.min(MAX_SAMPLE, Math.floor(MAX_SAMPLES / Math.max(1, limits)))
}
