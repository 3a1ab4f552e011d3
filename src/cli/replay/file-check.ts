import { InputError } from '../failures.js'
import type { ProxyTest } from '../log/client-address.js'
import { isPrivateAddress } from '../log/private-address.js'
import type { LoggedRequest } from '../log/request-line.js'
import { describeUnknownFields } from '../log/unknown-fields.js'
import { isoTime, timeText } from '../output.js'
import { MAX_LATE_MS } from './sort-window.js'

/** How many lines are tried: a file is not a log if none of its first lines can be read. */
const LINES_TRIED = 1000
/** A file is out of order if more of its requests than this, and than this share, are too late to be sorted. */
const MAX_LATE = 10
const MAX_LATE_SHARE = 0.01
/** What the lines of a file should be, as messages say it. */
export interface LineHelp {
  readonly formats: string
  /** Returns what is wrong with a line in no such format, and how to fix that; '' if it cannot tell. */
  describe(line: string): string
}

/** What a replay needs of each request besides its time. */
export type NeededField = 'method' | 'path'

/** Checks that a file is a log, has what a replay needs, and is in order. */
export class FileCheck {
  readonly name: string
  /** Which addresses in it are proxies'. */
  isProxy: ProxyTest = isPrivateAddress
  lines = 0
  readable = 0
  blank = 0
  /** The newest time, which a request has confirmed, and its line. */
  newestMs = Number.NEGATIVE_INFINITY
  #newestLine = 0
  #requests = 0
  #late = 0
  /** The first late line, and the one with the newest time then. */
  #firstLate = ''
  /** The first line that cannot be read, the first that is not a request, and the first of all. */
  #firstUnreadable: string | undefined
  #firstOther: string | undefined
  #first: string | undefined
  readonly #help: LineHelp
  readonly #missing: Set<NeededField>

  constructor(name: string, help: LineHelp, needs: readonly NeededField[]) {
    this.name = name
    this.#help = help
    this.#missing = new Set(needs)
  }

  countUnreadable(text: string | undefined): void {
    this.#firstUnreadable ??= text ?? ''
    if (this.lines === LINES_TRIED && this.readable === 0) this.#throwNoLog()
  }

  /** Counts a line that can be read, whether or not it is a request. */
  countReadable(text: string, isRequest: boolean): void {
    this.readable++
    this.#first ??= text
    if (!isRequest) this.#firstOther ??= text
  }

  /** Counts a request in a line. Returns by how much it is behind the newest one of the file. */
  countRequest(request: LoggedRequest, line: number): number {
    this.#requests++
    if (this.#missing.size > 0) this.#lookForMissing(request)
    const { timeMs } = request
    if (timeMs >= this.newestMs) {
      this.newestMs = timeMs
      this.#newestLine = line
      return 0
    }
    const msBack = this.newestMs - timeMs
    if (msBack > MAX_LATE_MS && this.#late++ === 0) {
      const newest = `${this.name}, line ${this.#newestLine}, is from ${timeText(isoTime(this.newestMs))}`
      this.#firstLate = `the first in line ${line} (${newest})`
    }
    return msBack
  }

  #lookForMissing(request: LoggedRequest): void {
    for (const field of this.#missing) if (request[field] !== '') this.#missing.delete(field)
    if (this.#missing.size > 0 && this.#requests === LINES_TRIED) this.#throwMissing()
  }

  end(): void {
    const isDescribed = this.#firstOther?.startsWith('#') // a log of the W3C without traffic
    const hasOther = this.#firstUnreadable !== undefined || (this.#firstOther !== undefined && !isDescribed)
    if (this.#requests === 0 && hasOther) this.#throwNoLog()
    if (this.#requests > 0 && this.#missing.size > 0) this.#throwMissing()
    if (this.#late <= MAX_LATE || this.#late <= MAX_LATE_SHARE * this.#requests) return
    const problem = `${this.#late} of its ${this.#requests} requests are more than an hour older than an earlier one`
    const fix = 'Sort it by time, oldest first'
    throw new InputError(`${this.name} is out of order: ${problem}, ${this.#firstLate}. ${fix}`)
  }

  #throwNoLog(): never {
    const { formats, describe } = this.#help
    const hint = describe(this.#firstUnreadable || this.#firstOther || '')
    const fix = hint || 'Lines may begin only with a prefix of syslog, journalctl, docker or kubectl'
    const problem =
      this.#firstUnreadable === undefined
        ? `has no requests: none of its ${this.lines} lines has a request line`
        : `is not an access log: none of its first ${this.lines} lines is in ${formats}`
    throw new InputError(`${this.name} ${problem}. ${fix}`)
  }

  #throwMissing(): never {
    const fields = [...this.#missing]
    const problem = `no line has a ${fields.join(' or a ')}, which --only and --key path need`
    const example = fields.map((field) => `${field}=…`).join()
    const hint = describeUnknownFields(this.#first ?? '', example)
    throw new InputError(`${this.name}: ${problem}. ${hint}`.trimEnd())
  }
}
