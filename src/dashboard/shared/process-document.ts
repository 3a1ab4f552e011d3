import { once } from '../../util/memo.js'
import { type Fields, fieldsOf } from '../../util/values.js'
import type { ClientFigures, LimiterFigures, LimiterReport } from '../figures/report.js'
import { ReportReader } from './report-reader.js'
import { ReportWriter } from './report-writer.js'
import { FORMAT, fieldsInText, MAX_TEXT } from './shared-document.js'
import type { ProcessIdentity } from './this-process.js'

/** The most limiters of a document that are read. */
const MAX_LIMITERS = 1000
/** The longest text of a process. */
const MAX_FIELD_LENGTH = 200
/** Up to this many limiters that deny have full lists. With more, each has a share. */
const FULL_LISTS = 20
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

/** What a process tells the others, in two documents: its figures, and less often those of its clients. */
export interface ProcessDocument {
  readonly header: ProcessHeader
  /** Whether it has figures that this version can read. */
  readonly hasFigures: boolean
  /**
   * Absent if another version wrote it: its figures cannot be added up. They are decoded when they are first read:
   * while no page is open, few processes do.
   */
  readonly limiters?: readonly LimiterFigures[]
  readonly clients?: ReadonlyMap<string, ClientFigures>
}

/** Writes the documents of one process. */
export class ProcessWriter {
  readonly #reports = new ReportWriter()

  /** Returns a text with the figures of limiters, which every store can hold. */
  figures(header: ProcessHeader, reports: readonly LimiterReport[]): string {
    return textOf(header, reports, (report, share) => this.#reports.figureLines(report, share))
  }

  /** Returns a text with the clients of limiters, which every store can hold. */
  clients(header: ProcessHeader, reports: readonly LimiterReport[]): string {
    return textOf(header, reports, (report, share, part) => {
      const [denied, near] = [shareOf(report.denied, part), shareOf(report.near, part)]
      return this.#reports.clientLines({ ...report, denied, near }, share)
    })
  }
}

/** Returns a text with the lines of limiters, with shorter lists until it is short enough. */
function textOf(
  header: ProcessHeader,
  reports: readonly LimiterReport[],
  linesOf: (report: LimiterReport, share: number, part: number) => string | undefined,
): string {
  const denying = reports.filter(({ denials }) => denials.denied > 0).length
  const most = Math.min(1, FULL_LISTS / Math.max(1, denying))
  for (const part of SHARES) {
    const lines = reports.flatMap((report) => linesOf(report, most * part, part) ?? [])
    const text = [headerText(header), ...lines].join('\n')
    if (text.length <= MAX_TEXT) return text
  }
  return headerText(header)
}

/** Returns the first part of a list. */
function shareOf<T>(list: readonly T[], part: number): readonly T[] {
  return list.slice(0, Math.round(list.length * part))
}

/** Returns the text of a document without figures. */
export function headerText(header: ProcessHeader): string {
  return JSON.stringify({ headgate: FORMAT, header })
}

/** Reads the documents of one process. */
export class ProcessReader {
  readonly #reports = new ReportReader()

  /** Returns the document in a text; `undefined` if not even its header can be read. */
  read(text: string): ProcessDocument | undefined {
    const end = text.indexOf('\n')
    const hasFigures = end >= 0
    const fields = fieldsInText(hasFigures ? text.slice(0, end) : text)
    const header = headerIn(fieldsOf(fields?.header))
    if (fields === undefined || header === undefined) return undefined
    if (fields.headgate !== FORMAT) return { header, hasFigures: false }
    const reports = once(() => {
      return this.#reports.read(hasFigures ? text.slice(end + 1).split('\n') : [], MAX_LIMITERS)
    })
    return {
      header,
      hasFigures,
      get limiters() {
        return reports().figures
      },
      get clients() {
        return reports().clients
      },
    }
  }
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
