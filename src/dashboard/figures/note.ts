import { BREAKER_STATES } from '../../pipe/breaker-state.js'
import { isObject } from '../../util/values.js'
import { BUCKETS } from './latency.js'
import type { LimiterReport } from './report.js'
import { CHART_SLOTS } from './traffic.js'

/** What a process reports to the others. */
export interface Note {
  readonly process: string
  readonly atMs: number
  /** `undefined` if another version of this package wrote it: its figures cannot be added up. */
  readonly report: LimiterReport | undefined
}

/** The longest list of a report that is read. */
const MAX_LISTED = 1000

/** Returns the note in a text; `undefined` if not even its process and its time can be read. */
export function parseNote(text: string): Note | undefined {
  const note = parse(text)
  if (!isNote(note)) return undefined
  const { process, atMs, report } = note
  return { process, atMs, report: isReport(report) ? report : undefined }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type Validator = (value: unknown) => boolean

const isText: Validator = (value) => typeof value === 'string'
const isCount: Validator = (value) =>
  typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER
const isRate: Validator = (value) => typeof value === 'number' && value >= 0 && Number.isFinite(value)
const isFlag: Validator = (value) => typeof value === 'boolean'
const isPresent: Validator = () => true

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

const hasNoteFields = object({ process: isText, atMs: isCount, report: isPresent })

/** Returns whether a value is a note. Does not check its report. */
function isNote(value: unknown): value is Omit<Note, 'report'> & { readonly report: unknown } {
  return hasNoteFields(value)
}

function isReport(value: unknown): value is LimiterReport {
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
  traffic: object({
    lastSlot: isCount,
    allowed: listOf(isCount, CHART_SLOTS),
    denied: listOf(isCount, CHART_SLOTS),
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
  denied: listOf(object({ limitName: isText, identity: isText, denied: isCount })),
  store: object({
    state: (value) => BREAKER_STATES.some((state) => state === value),
    calls: isCount,
    failures: isCount,
    latency: listOf(isCount, BUCKETS),
    outage: optional(
      object({
        sinceMs: isCount,
        allowed: isCount,
        denied: isCount,
        local: isCount,
        byStore: isCount,
        processes: isCount,
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
