import { shownIdentity } from '../../../keys/value-identity.js'
import { signatureOfSpec } from '../../../policies/spec.js'
import { largestOf, seenCurve, sumOf } from '../../../tuning/demand-curve.js'
import { mergeSamples, NO_NAMES } from '../../../util/distinct-sample.js'
import type { Demand } from '../../figures/demands.js'
import { missingSteps, withAdded } from '../added-steps.js'
import { type FinishedStep, STEP_MS } from '../steps.js'
import { boundedClients, withSamples } from './bounded-clients.js'
import {
  type CountedClient,
  HASHES,
  type LimiterDemands,
  type LimitPeriods,
  MAX_LIMITS,
  MAX_SAMPLE,
  PERIOD_STEPS,
  type Period,
  sampleSize,
} from './demand-document.js'

/** Returns the demands with the steps of a process that they do not have yet; `undefined` if they have them all. */
export function withDemands(
  { added, limits }: LimiterDemands = { added: [], limits: [] },
  process: string,
  finished: readonly FinishedStep[],
): LimiterDemands | undefined {
  const missing = missingSteps(added, process, finished)
  const newest = missing.at(-1)?.step
  if (newest === undefined) return undefined
  const byKey = new Map(limits.map((limit) => [keyOf(limit), limit]))
  for (const { step, demands } of missing)
    for (const taken of demands) {
      const key = keyOf(taken)
      const before = byKey.get(key)
      if (!isEarlier(before, taken, step)) byKey.set(key, withStep(before, taken, step))
    }
  const latest = [...byKey.values()].sort((a, b) => b.lastStep - a.lastStep).slice(0, MAX_LIMITS)
  return { added: withAdded(added, process, newest), limits: withSmallSamples(latest) }
}

type LimitKey = Pick<LimitPeriods, 'limitName' | 'policy' | 'isCandidate'>

/** A limit is told apart by its name and its numbers. */
function keyOf({ limitName, policy, isCandidate }: LimitKey): string {
  return `${limitName} ${signatureOfSpec(policy)} ${isCandidate === true}`
}

type Taken = FinishedStep['demands'][number]

/** Returns whether a process tells late what was asked for before the limit came into force again. */
function isEarlier(before: LimitPeriods | undefined, { sinceMs }: Taken, step: number): boolean {
  const lastMs = sinceMs ?? (step + 1) * STEP_MS - 1
  return before?.sinceMs !== undefined && lastMs < before.sinceMs
}

/** Returns a limit with a step. If it has come into force again since, it starts over. */
function withStep(known: LimitPeriods | undefined, taken: Taken, step: number): LimitPeriods {
  const { limitName, policy, isCandidate, sinceMs = known?.sinceMs } = taken
  const before = known !== undefined && sinceMs !== undefined && sinceMs > known.fromMs ? undefined : known
  const number = Math.floor(step / PERIOD_STEPS)
  const kept = (before?.periods ?? []).filter(({ period }) => Math.abs(number - period) <= 1)
  const current = kept.find(({ period }) => period === number)
  const empty = { period: number, all: NO_NAMES, below: HASHES, clients: [] }
  const changed = withTaken(current ?? empty, taken, step)
  const periods = [changed, ...kept.filter(({ period }) => period !== number)]
    .sort((a, b) => b.period - a.period)
    .slice(0, 2)
  const firstMs = Math.min(before?.fromMs ?? Number.POSITIVE_INFINITY, step * STEP_MS)
  const keptFromMs = (periods.at(-1)?.period ?? 0) * PERIOD_STEPS * STEP_MS
  return {
    ...{ limitName, policy },
    ...(isCandidate && { isCandidate }),
    ...(sinceMs !== undefined && { sinceMs }),
    fromMs: Math.max(firstMs, sinceMs ?? 0, keptFromMs),
    lastStep: Math.max(before?.lastStep ?? step, step),
    periods,
  }
}

function withTaken(period: Period, { clients, demands }: Taken, step: number): Period {
  const all = mergeSamples([period.all, clients], MAX_SAMPLE)
  const byIdentity = new Map(period.clients.map((client) => [client.identity, client]))
  for (const demand of demands) {
    const identity = shownIdentity(demand.identity)
    byIdentity.set(identity, withDemand(byIdentity.get(identity), identity, demand, step))
  }
  const bounded = boundedClients([...byIdentity.values()], Math.min(period.below, clients.below), MAX_SAMPLE)
  return { ...bounded, period: period.period, all }
}

/**
 * Returns a client with what a process has counted in a step. What several processes count in one step is of one
 * time, and adds up. What each of them has seen in use is of all processes, and does not.
 */
function withDemand(
  client: CountedClient | undefined,
  identity: string,
  { peaks, seen, wasDenied }: Demand,
  step: number,
): CountedClient {
  const sums = client?.step === step ? sumOf(client.sums, peaks) : peaks
  const atMost = largestOf(sums, seenCurve(seen, sums.length))
  const isLate = client !== undefined && client.step > step
  return {
    identity,
    peaks: client === undefined ? atMost : largestOf(client.peaks, atMost),
    wasDenied: wasDenied || client?.wasDenied === true,
    ...(isLate ? { step: client.step, sums: client.sums } : { step, sums }),
  }
}

/** Makes the samples of several limits smaller. */
function withSmallSamples(limits: readonly LimitPeriods[]): readonly LimitPeriods[] {
  const size = sampleSize(limits.length)
  return size === MAX_SAMPLE ? limits : withSamples(limits, size)
}
