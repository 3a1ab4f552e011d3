import { InputError } from '../failures.js'
import type { ProxyTest } from '../log/client-address.js'
import { isPrivateAddress } from '../log/private-address.js'
import type { Clock } from './clock.js'

/** How many lines are tried: a file is not a log if none of its first lines can be read. */
const LINES_TRIED = 1000
/** A file that begins this much earlier than those before it end is in the wrong place. */
export const MAX_STEP_BACK_MS = 60_000
/** How many requests are tried. Single ones may be logged late, so the newest of these counts. */
const REQUESTS_TRIED = 100
/** A file is out of order if more of its requests than this, and than this share, are late. */
const MAX_LATE = 10
const MAX_LATE_SHARE = 0.01

/** What the lines of a file should be, as messages say it. */
export interface LineHelp {
  readonly formats: string
  /** Returns what is wrong with a line in no such format, and how to fix that; '' if it cannot tell. */
  describe(line: string): string
}

/** Checks that a file is a log, and begins where those before it end. */
export class FileCheck {
  readonly name: string
  /** Which addresses in it are proxies'. */
  isProxy: ProxyTest = isPrivateAddress
  lines = 0
  readable = 0
  blank = 0
  #late = 0
  /** The first late line, and the one with the newest time then. */
  #firstLate = ''
  #counted = 0
  readonly #clock: Clock
  readonly #newestBeforeMs: number
  readonly #before: string
  #requests = 0
  #newestMs = Number.NEGATIVE_INFINITY
  readonly #help: LineHelp
  #firstUnreadable: string | undefined

  constructor(name: string, clock: Clock, help: LineHelp) {
    this.name = name
    this.#help = help
    this.#clock = clock
    this.#newestBeforeMs = clock.newestMs
    this.#before = clock.describe()
  }

  countUnreadable(line: string | undefined): void {
    this.#firstUnreadable ??= line
    if (this.lines === LINES_TRIED && this.readable === 0) this.#throwNoLog()
  }

  /** Counts a request that is so far behind the clock. */
  countRequest(timeMs: number, msBack: number, line: number): void {
    this.#counted++
    if (msBack > MAX_STEP_BACK_MS && this.#late++ === 0)
      this.#firstLate = `the first in line ${line} (${this.#clock.describe()})`
    if (this.#requests >= REQUESTS_TRIED) return
    this.#requests++
    this.#newestMs = Math.max(this.#newestMs, timeMs)
    if (this.#requests === REQUESTS_TRIED) this.#checkOrder()
  }

  end(): void {
    if (this.lines > this.blank && this.readable === 0) this.#throwNoLog()
    if (this.#requests > 0) this.#checkOrder()
    if (this.#late <= MAX_LATE || this.#late <= MAX_LATE_SHARE * this.#counted) return
    const problem = `${this.#late} of its ${this.#counted} requests are more than a minute older than an earlier one`
    const fix = 'Sort it by time, oldest first'
    throw new InputError(`${this.name} is out of order: ${problem}, ${this.#firstLate}. ${fix}`)
  }

  #checkOrder(): void {
    if (this.#newestMs >= this.#newestBeforeMs - MAX_STEP_BACK_MS) return
    const problem = `begins before the previous log ends (${this.#before})`
    throw new InputError(`${this.name} ${problem}: name the oldest file first`)
  }

  #throwNoLog(): never {
    const { formats, describe } = this.#help
    const hint = this.#firstUnreadable === undefined ? '' : describe(this.#firstUnreadable)
    const fix = hint || 'Lines may begin only with a prefix of syslog, journalctl, docker or kubectl'
    throw new InputError(
      `${this.name} is not an access log: none of its first ${this.lines} lines is in ${formats}. ${fix}`,
    )
  }
}
