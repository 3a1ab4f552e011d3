import { shownIdentity } from '../../keys/value-identity.js'
import type { ClientDemand, LimitDemand } from '../../tuning/client-demand.js'
import { nameHash } from '../../util/distinct-names.js'
import {
  type DistinctSample,
  distinctIn,
  mergeSamples,
  NO_NAMES,
  sampleAsJson,
  sampleInJson,
} from '../../util/distinct-sample.js'
import { type Fields, isObject } from '../../util/values.js'
import { type AddedSteps, addedIn, missingSteps, withAdded } from './added-steps.js'
import { type FinishedStep, STEP_MS } from './steps.js'

/** Returns the key of the demands of a limiter. */
export function demandKey(prefix: string, limiter: string): string {
  return `${prefix}:dashboard:demand/${limiter}`
}

/** Two periods are kept, so that the demands are of the last 12 to 24 hours. */
const PERIOD_STEPS = 144
/** The clients with the largest peaks, and the sample of all. */
const MAX_LARGEST = 100
const MAX_SAMPLE = 900
/** The most limits of a limiter. */
const MAX_LIMITS = 8
/** All hashes are below this. */
const HASHES = NO_NAMES.below

/** A client: what it asked for at most, in one step of all processes together. */
interface Client {
  readonly identity: string
  readonly peak: number
  readonly wasDenied: boolean
  /** The last step that it was counted in, and the sum of all processes in it. */
  readonly step: number
  readonly sum: number
}

/** The clients of a limit in 12 hours. */
interface Period {
  readonly period: number
  /** For the number of distinct clients. */
  readonly all: DistinctSample
  /** Clients whose hash is below this are a sample of all. */
  readonly below: number
  readonly clients: readonly Client[]
}

interface LimitPeriods {
  readonly limitName: string
  readonly limit: number
  readonly windowMs: number
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
  const latest = [...byKey.values()].sort((a, b) => b.lastStep - a.lastStep)
  return { added: withAdded(added, process, newest), limits: latest.slice(0, MAX_LIMITS) }
}

function keyOf({
  limitName,
  limit,
  windowMs,
}: Pick<LimitPeriods, 'limitName' | 'limit' | 'windowMs'>): string {
  return `${limitName} ${limit} ${windowMs}`
}

type Taken = FinishedStep['demands'][number]

/** Returns whether a process tells late what was asked for before the limit came into force again. */
function isEarlier(before: LimitPeriods | undefined, { sinceMs }: Taken, step: number): boolean {
  const lastMs = sinceMs ?? (step + 1) * STEP_MS - 1
  return before?.sinceMs !== undefined && lastMs < before.sinceMs
}

/** Returns a limit with a step. If it has come into force again since, it begins anew. */
function withStep(known: LimitPeriods | undefined, taken: Taken, step: number): LimitPeriods {
  const { limitName, limit, windowMs, sinceMs = known?.sinceMs } = taken
  const before = known !== undefined && sinceMs !== undefined && sinceMs > known.fromMs ? undefined : known
  const number = Math.floor(step / PERIOD_STEPS)
  const kept = (before?.periods ?? []).filter(({ period }) => Math.abs(number - period) <= 1)
  const current = kept.find(({ period }) => period === number)
  const changed = withTaken(
    current ?? { period: number, all: NO_NAMES, below: HASHES, clients: [] },
    taken,
    step,
  )
  const periods = [changed, ...kept.filter(({ period }) => period !== number)]
    .sort((a, b) => b.period - a.period)
    .slice(0, 2)
  const firstMs = Math.min(before?.fromMs ?? Number.POSITIVE_INFINITY, step * STEP_MS)
  const keptFromMs = (periods.at(-1)?.period ?? 0) * PERIOD_STEPS * STEP_MS
  return {
    ...{ limitName, limit, windowMs },
    ...(sinceMs !== undefined && { sinceMs }),
    fromMs: Math.max(firstMs, sinceMs ?? 0, keptFromMs),
    lastStep: Math.max(before?.lastStep ?? step, step),
    periods,
  }
}

function withTaken(period: Period, { clients, demands }: Taken, step: number): Period {
  const all = mergeSamples([period.all, clients], MAX_SAMPLE)
  const byIdentity = new Map(period.clients.map((client) => [client.identity, client]))
  for (const { identity, peak, wasDenied } of demands) {
    const shown = shownIdentity(identity)
    const client = byIdentity.get(shown)
    // What several processes count in one step is of one time, and adds up.
    const sum = client?.step === step ? client.sum + peak : peak
    const isLate = client !== undefined && client.step > step
    byIdentity.set(shown, {
      identity: shown,
      peak: Math.max(client?.peak ?? 0, sum),
      wasDenied: wasDenied || client?.wasDenied === true,
      ...(isLate ? { step: client.step, sum: client.sum } : { step, sum }),
    })
  }
  return {
    ...bounded([...byIdentity.values()], Math.min(period.below, clients.below)),
    period: period.period,
    all,
  }
}

/** Keeps the clients with the largest peaks, and those of the sample. */
function bounded(clients: readonly Client[], below: number): Pick<Period, 'below' | 'clients'> {
  const byPeak = [...clients].sort((a, b) => b.peak - a.peak)
  const sample = clients
    .map((client) => ({ client, hash: nameHash(client.identity) }))
    .filter(({ hash }) => hash < below)
    .sort((a, b) => a.hash - b.hash)
  const kept = new Set([
    ...byPeak.slice(0, MAX_LARGEST),
    ...sample.slice(0, MAX_SAMPLE).map(({ client }) => client),
  ])
  return { below: sample[MAX_SAMPLE]?.hash ?? below, clients: byPeak.filter((client) => kept.has(client)) }
}

/** Returns what the clients of each limit asked for. */
export function demandsOf({ limits }: LimiterDemands): readonly LimitDemand[] {
  return limits.map(({ limitName, limit, windowMs, fromMs, lastStep, periods }) => {
    const merged = periods.reduce<Period | undefined>(
      (a, b) => (a === undefined ? b : mergePeriods(a, b)),
      undefined,
    )
    return {
      limitName,
      limit,
      windowMs,
      fromMs,
      toMs: (lastStep + 1) * STEP_MS,
      clients: merged === undefined ? 0 : distinctIn(merged.all),
      demands: merged === undefined ? [] : weighted(merged),
    }
  })
}

function mergePeriods(a: Period, b: Period): Period {
  const byIdentity = new Map(a.clients.map((client) => [client.identity, client]))
  for (const client of b.clients) {
    const other = byIdentity.get(client.identity)
    byIdentity.set(client.identity, {
      ...client,
      peak: Math.max(client.peak, other?.peak ?? 0),
      wasDenied: client.wasDenied || other?.wasDenied === true,
    })
  }
  const below = Math.min(a.below, b.below)
  return { ...a, all: mergeSamples([a.all, b.all], MAX_SAMPLE), ...bounded([...byIdentity.values()], below) }
}

/** The largest stand for themselves, and the sample for all others. */
function weighted({ below, clients }: Period): readonly ClientDemand[] {
  return clients.map(({ identity, peak, wasDenied }, i) => {
    const weight = i < MAX_LARGEST ? 1 : HASHES / below
    return { identity, peak, weight, wasDenied }
  })
}

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
        period,
        below,
        all: sampleAsJson(all),
        clients: clients.map(({ identity, peak, wasDenied, step, sum }) => [
          identity,
          peak,
          wasDenied ? 1 : 0,
          step,
          sum,
        ]),
      })),
    })),
  }),
}

function limitIn(value: unknown): LimitPeriods | undefined {
  if (!isObject(value) || !Array.isArray(value.periods) || typeof value.limitName !== 'string')
    return undefined
  const { limitName, limit, windowMs, sinceMs, fromMs, lastStep } = value
  if (!isCount(limit) || !isCount(windowMs) || !isCount(fromMs) || !isCount(lastStep)) return undefined
  const periods = value.periods.slice(0, 2).flatMap((each) => periodIn(each) ?? [])
  return { limitName, limit, windowMs, ...(isCount(sinceMs) && { sinceMs }), fromMs, lastStep, periods }
}

function periodIn(value: unknown): Period | undefined {
  if (!isObject(value) || !Array.isArray(value.clients)) return undefined
  const { period, below } = value
  const all = sampleInJson(value.all, MAX_SAMPLE)
  if (!isCount(period) || !isCount(below) || all === undefined) return undefined
  const clients = value.clients.slice(0, MAX_LARGEST + MAX_SAMPLE).flatMap((each) => clientIn(each) ?? [])
  return { period, below, all, clients }
}

function clientIn(value: unknown): Client | undefined {
  if (!Array.isArray(value) || typeof value[0] !== 'string') return undefined
  const [identity, peak, wasDenied, step, sum]: unknown[] = value
  if (!isCount(peak) || !isCount(step) || !isCount(sum)) return undefined
  return { identity: String(identity), peak, wasDenied: wasDenied === 1, step, sum }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value)
}
