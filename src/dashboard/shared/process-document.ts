import { type Fields, fieldsOf } from '../../util/values.js'
import type { LimiterReport } from '../figures/report.js'
import { reportAsJson, reportInJson } from './report-codec.js'
import { FORMAT, fieldsInText, MAX_TEXT } from './shared-document.js'
import type { ProcessIdentity } from './this-process.js'

/** The most limiters of a document that are read. */
const MAX_LIMITERS = 1000
/** The longest text of a process. */
const MAX_FIELD_LENGTH = 200
/** So many limiters that deny have their longest lists in full. With more, each has a share of them. */
const FULL_LISTS = 20
/** The clients near a limit of all limiters, and of one: at least, and at most. */
const ALL_NEAR = 400
const MIN_NEAR = 2
const MAX_NEAR = 20
/** What is tried until the text is short enough: the part of that share. */
const SHARES = [1, 0.3, 0.1, 0]

/** What a process says about itself, whatever its version. */
export interface ProcessHeader extends ProcessIdentity {
  /** The number of its dashboard, since a process may have several. */
  readonly dashboard: number
  /** When this was written, by the clock of the process. */
  readonly atMs: number
  /** It writes at least that often. */
  readonly everyMs: number
  /** When its dashboard was closed. */
  readonly closedAtMs?: number
}

/** What a process tells the others. */
export interface ProcessDocument {
  readonly header: ProcessHeader
  /** Absent if another version wrote it: its figures cannot be added up. */
  readonly limiters?: readonly LimiterReport[]
}

/** Returns the text of a document, which every store can hold. */
export function processText(header: ProcessHeader, limiters: readonly LimiterReport[]): string {
  const denying = limiters.filter(({ denials }) => denials.denied > 0).length
  const most = Math.min(1, FULL_LISTS / Math.max(1, denying))
  const nearest = Math.min(MAX_NEAR, Math.max(MIN_NEAR, Math.floor(ALL_NEAR / Math.max(1, limiters.length))))
  for (const part of SHARES) {
    const share = most * part
    const text = JSON.stringify({
      headgate: FORMAT,
      header,
      limiters: limiters.map((report) => {
        const denied = report.denied.slice(0, Math.round(report.denied.length * part))
        return reportAsJson({ ...report, denied, near: report.near.slice(0, nearest) }, share)
      }),
    })
    if (text.length <= MAX_TEXT) return text
  }
  return headerText(header)
}

/** Returns the text of a document without figures. */
export function headerText(header: ProcessHeader): string {
  return JSON.stringify({ headgate: FORMAT, header, limiters: [] })
}

/** Returns the document in a text; `undefined` if not even its header can be read. */
export function parseProcess(text: string): ProcessDocument | undefined {
  const fields = fieldsInText(text)
  const header = headerIn(fieldsOf(fields?.header))
  if (fields === undefined || header === undefined) return undefined
  const { limiters } = fields
  if (fields.headgate !== FORMAT || !Array.isArray(limiters)) return { header }
  const reports = limiters.slice(0, MAX_LIMITERS).map(reportInJson)
  return { header, limiters: reports.filter((report) => report !== undefined) }
}

function headerIn(fields: Fields): ProcessHeader | undefined {
  const { id, host, pid, version, startedAtMs, dashboard, atMs, everyMs, closedAtMs } = fields
  if (!isText(id) || !isText(host) || !isText(version)) return undefined
  if (!isTime(pid) || !isTime(startedAtMs) || !isTime(dashboard) || !isTime(atMs) || !isTime(everyMs))
    return undefined
  const header = { id, host, pid, version, startedAtMs, dashboard, atMs, everyMs }
  return isTime(closedAtMs) ? { ...header, closedAtMs } : header
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_FIELD_LENGTH
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER
}
