import { BREAKER_STATES } from '../../pipe/breaker-state.js'
import { isObject } from '../../util/values.js'
import type { Counts } from '../figures/counts.js'
import type {
  DenialFigures,
  DeniedRow,
  LimiterFigures,
  LimiterReport,
  NearClient,
  TrafficReport,
} from '../figures/report.js'

/** What changes all the time in a report: of its traffic, not the slots that are over. */
export type NowLine = Omit<LimiterFigures, 'traffic'> & { readonly traffic: Omit<TrafficReport, 'past'> }

/** What denials have in common, without the samples of names. */
export type DenialLine = Pick<DenialFigures, 'denied' | 'routes'> & { readonly networks: Counts }

export type CandidateLine = Required<Pick<LimiterReport, 'candidate' | 'candidateClients'>>

/** The longest list of a report that is read. */
const MAX_LISTED = 1000

type Validator = (value: unknown) => boolean

export const isText = (value: unknown): value is string => typeof value === 'string'
const isCount: Validator = (value) =>
  typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER
const isRate: Validator = (value) => typeof value === 'number' && value >= 0 && Number.isFinite(value)
const isFlag: Validator = (value) => typeof value === 'boolean'
const isPresent: Validator = () => true

const isSample: Validator = isObject // as `sampleInJson` has returned it
const isMode: Validator = (value) => value === 'enforce' || value === 'report'
const isCounts: Validator = (value) => listOf((pair) => listOf(isPresent, 2)(pair) && isPair(pair))(value)
const isPair: Validator = (pair) => Array.isArray(pair) && isText(pair[0]) && isCount(pair[1])

function optional(check: Validator): Validator {
  return (value) => value === undefined || check(value)
}

function listOf(check: Validator, length?: number): Validator {
  return (value) =>
    Array.isArray(value) &&
    (length === undefined ? value.length <= MAX_LISTED : value.length === length) &&
    value.every(check)
}

function object(fields: Readonly<Record<string, Validator>>): Validator {
  const checks = Object.entries(fields)
  return (value) => isObject(value) && checks.every(([name, check]) => check(value[name]))
}

const isCandidateLimit = object({
  name: isText,
  denied: isCount,
  excessUnits: isCount,
  deniedClients: isCount,
  mostDenied: listOf(object({ identity: isText, denied: isCount })),
})

const isRun = object({ sinceMs: isCount, lastMs: isCount, risenMs: isCount, perMinute: isCount })

const hasNowFields = object({
  name: isText,
  mode: isMode,
  sinceMs: isCount,
  traffic: object({
    lastSlot: isCount,
    allowed: isCount,
    denied: isCount,
    perSecond: object({ allowed: isRate, denied: isRate }),
  }),
  limits: listOf(
    object({
      name: isText,
      kind: isText,
      limit: isCount,
      windowMs: (value) => value === null || isCount(value),
      isLocal: isFlag,
      allowed: isCount,
      denied: isCount,
      peak: isCount,
    }),
  ),
  run: optional(isRun),
  blocked: optional(isRun),
  store: object({
    name: isText,
    state: (value) => BREAKER_STATES.some((state) => state === value),
    calls: isCount,
    failures: isCount,
    latency: isPresent,
    outage: optional(
      object({
        sinceMs: isCount,
        allowed: isCount,
        denied: isCount,
        local: isCount,
        byStore: isCount,
        processes: isCount,
        servers: listOf(isText),
        lateMs: optional(isCount),
      }),
    ),
  }),
})

const hasNearFields = listOf(
  object({ limitName: isText, identity: isText, limit: isCount, remaining: isCount, isLocal: isFlag }),
)

const hasDenialFields = object({ denied: isCount, routes: isCounts, networks: isCounts })

const hasClientFields = object({
  limitName: isText,
  identity: isText,
  denied: isCount,
  perSecond: isRate,
  firstMs: isCount,
  lastMs: isCount,
  routes: isCounts,
  networks: isCounts,
  addresses: isSample,
})

const hasCandidateFields = object({
  candidate: object({
    sinceMs: isCount,
    requests: isCount,
    clients: isCount,
    denied: isCount,
    deniedClients: isCount,
    newlyDenied: isCount,
    newlyAllowed: isCount,
    failed: isCount,
    limits: listOf(isCandidateLimit),
  }),
  candidateClients: object({
    clients: listOf(isCount),
    deniedClients: listOf(isCount),
    limits: listOf(listOf(isCount)),
  }),
})

/** Each returns whether a value is what its line says, once counts and samples are decoded. */
export const isNow = (value: unknown): value is NowLine => hasNowFields(value)
export const isNear = (value: unknown): value is readonly NearClient[] => hasNearFields(value)
export const isDenials = (value: unknown): value is DenialLine => hasDenialFields(value)
export const isClient = (value: unknown): value is DeniedRow => hasClientFields(value)
export const isCandidate = (value: unknown): value is CandidateLine => hasCandidateFields(value)
