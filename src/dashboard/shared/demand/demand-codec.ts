import { publishedPolicy } from '../../../pipe/published-limits.js'
import { type BaseSpec, isSpec } from '../../../policies/spec.js'
import { type Curve, RATES } from '../../../tuning/demand-curve.js'
import { sampleAsJson, sampleInJson } from '../../../util/distinct-sample.js'
import { type Fields, isObject } from '../../../util/values.js'
import { addedIn } from '../added-steps.js'
import { smallerDemands } from './bounded-clients.js'
import {
  type CountedClient,
  type LimiterDemands,
  type LimitPeriods,
  MAX_LARGEST,
  MAX_LIMITS,
  MAX_SAMPLE,
  type Period,
} from './demand-document.js'

/** How demands become JSON, and are read from what any process may have written. */
export const DEMAND_CODEC = {
  decode({ added, limits }: Fields): LimiterDemands | undefined {
    if (!Array.isArray(limits)) return undefined
    return {
      added: addedIn(added),
      limits: limits.slice(0, MAX_LIMITS).flatMap((each) => limitIn(each) ?? []),
    }
  },
  encode: ({ added, limits }: LimiterDemands) => ({
    added,
    limits: limits.map(({ periods, ...limit }) => ({
      ...limit,
      periods: periods.map(({ period, all, below, clients }) => ({
        ...{ period, below, all: sampleAsJson(all) },
        clients: clients.map(clientAsJson),
      })),
    })),
  }),
  smaller: smallerDemands,
}

function clientAsJson({ identity, peaks, wasDenied, step, sums }: CountedClient): readonly unknown[] {
  const client = [identity, curveAsJson(peaks), wasDenied ? 1 : 0, step]
  return sums.every((sum, i) => sum === peaks[i]) ? client : [...client, curveAsJson(sums)]
}

/** Leaves out the last numbers of a curve that repeat. What is not known, `Infinity`, is `null` in JSON. */
function curveAsJson(curve: Curve): readonly number[] | number {
  let { length } = curve
  if (length === 1) return curve[0] ?? 0
  while (length > 1 && curve[length - 1] === curve[length - 2]) length--
  return curve.slice(0, length)
}

function curveIn(value: unknown, length: number): Curve | undefined {
  const peaks: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (peaks.length === 0 || peaks.length > length) return undefined
  const curve = peaks.map((peak) => (peak === null ? Number.POSITIVE_INFINITY : peak))
  if (!curve.every((peak) => peak === Number.POSITIVE_INFINITY || isCount(peak))) return undefined
  const known = curve as readonly number[]
  return Array.from({ length }, (_, i) => known[Math.min(i, known.length - 1)] as number)
}

function limitIn(value: unknown): LimitPeriods | undefined {
  if (!isObject(value) || !Array.isArray(value.periods) || typeof value.limitName !== 'string')
    return undefined
  const { limitName, policy, sinceMs, fromMs, lastStep } = value
  if (!isCount(fromMs) || !isCount(lastStep)) return undefined
  if (!isSpec(policy) || policy.kind === 'ban' || policy.kind === 'concurrency') return undefined
  if (publishedPolicy(policy) === undefined) return undefined
  const periods = value.periods.slice(0, 2).flatMap((each) => periodIn(each, policy) ?? [])
  return {
    ...{ limitName, policy },
    ...(value.isCandidate === true && { isCandidate: true }),
    ...(isCount(sinceMs) && { sinceMs }),
    ...{ fromMs, lastStep, periods },
  }
}

function periodIn(value: unknown, { kind }: BaseSpec): Period | undefined {
  if (!isObject(value) || !Array.isArray(value.clients)) return undefined
  const { period, below } = value
  const all = sampleInJson(value.all, MAX_SAMPLE)
  if (!isCount(period) || !isCount(below) || all === undefined) return undefined
  const length = kind === 'token-bucket' ? RATES.length : 1
  const listed = value.clients.slice(0, MAX_LARGEST + MAX_SAMPLE)
  return { period, below, all, clients: listed.flatMap((each) => clientIn(each, length) ?? []) }
}

function clientIn(value: unknown, length: number): CountedClient | undefined {
  if (!Array.isArray(value) || typeof value[0] !== 'string') return undefined
  const [identity, peak, wasDenied, step, sum = peak]: unknown[] = value
  const [peaks, sums] = [curveIn(peak, length), curveIn(sum, length)]
  if (peaks === undefined || sums === undefined || !isCount(step)) return undefined
  return { identity: String(identity), peaks, wasDenied: wasDenied === 1, step, sums }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value)
}
