import { BREAKER_STATES } from '../../pipe/breaker-state.js'
import { isObject } from '../../util/values.js'
import type { LimiterReport } from '../figures/report.js'

/** The longest list of a report that is read. */
const MAX_LISTED = 1000

type Validator = (value: unknown) => boolean

const isText: Validator = (value) => typeof value === 'string'
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

/** Returns whether a value is a report, once its counts and samples are decoded. */
export function isReport(value: unknown): value is LimiterReport {
  return hasReportFields(value)
}

const isCandidateLimit = object({
  name: isText,
  denied: isCount,
  excessUnits: isCount,
  deniedClients: isCount,
  mostDenied: listOf(object({ identity: isText, denied: isCount })),
})

const hasReportFields = object({
  name: isText,
  mode: isMode,
  sinceMs: isCount,
  traffic: object({
    lastSlot: isCount,
    allowed: isPresent,
    denied: isPresent,
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
  near: listOf(
    object({ limitName: isText, identity: isText, limit: isCount, remaining: isCount, isLocal: isFlag }),
  ),
  run: optional(object({ sinceMs: isCount, lastMs: isCount, blockedMs: optional(isCount) })),
  denials: object({
    denied: isCount,
    clients: isSample,
    addresses: isSample,
    routes: isCounts,
    networks: listOf(object({ network: isText, denied: isCount, addresses: isSample })),
  }),
  denied: listOf(
    object({
      limitName: isText,
      identity: isText,
      denied: isCount,
      perSecond: isRate,
      firstMs: isCount,
      lastMs: isCount,
      routes: isCounts,
      networks: isCounts,
      addresses: isSample,
    }),
  ),
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
      }),
    ),
  }),
  candidate: optional(
    object({
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
  ),
  candidateClients: optional(
    object({
      clients: listOf(isCount),
      deniedClients: listOf(isCount),
      limits: listOf(listOf(isCount)),
    }),
  ),
})
