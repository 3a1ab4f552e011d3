import { sourcesOf } from './access-places.js'
import { closingQuote, decodeEscapes, userOf } from './line-fields.js'
import type { FieldSources, LineReader } from './line-reader.js'
import { isLoggedClient } from './logged-client.js'
import { type LineKind, type LoggedRequest, pathOf, readRequestLine } from './request-line.js'

/**
 * The beginnings of lines that have another layout than access logs, up to what a client has written, or with
 * its target, which has no blanks. `target` may be quoted.
 */
const LAYOUTS: readonly RegExp[] = [
  // An Application Load Balancer of AWS. Its request line is read behind it.
  /^(?:https?|h2|grpcs|wss?) (?<time>\d\S+) app\/\S+ (?<address>\S+) (?:\S+ ){8}(?=")/,
  // A Classic Load Balancer
  /^(?<time>\d{4}-\S+) [A-Za-z\d-]+ (?<address>\S+:\d+) (?:\S+ ){8}(?=")/,
  // S3: its resource owner, bucket and time come first
  /^[\da-f]{64} \S+ \[(?<time>[^\]]+)\] (?<address>\S+) \S+ \S+ [A-Z]+\.\S+ \S+ (?=")/,
  // uWSGI
  /^\[pid: \d+\|app: [^|\]]*\|req: [\d/-]+\] (?<address>\S+) \((?<user>[^)]*)\) \{\d+ vars in \d+ bytes\} \[(?<time>[^\]]{24})\] (?<method>[A-Z]+) (?<target>\S+) =>/,
  // The server of PHP, whose other lines are about connections
  /^\[(?<time>[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4})\] (?<address>\S+) \[\d{3}\]: (?:(?<method>[A-Z]+) )?(?<target>\/\S*)/,
  // Gin
  /^\[GIN\] (?<time>\d{4}\/\d\d\/\d\d - [\d:]{8}) \|[^|]*\|[^|]*\| +(?<address>\S+) \|[^|A-Z]{0,60}(?<method>[A-Z]+)[^|"/]{0,60}(?<target>"\/(?:[^"\\]|\\.)*"|\/\S*)/,
  // Fiber, if its TimeFormat has a date
  /^(?<time>\d{4}[-/]\d\d[-/]\d\d[T ][^|]{8,30}?) +\|[^|]*\|[^|]*\| +(?<address>\S+) +\|[^|A-Z]{0,60}(?<method>[A-Z]+)[^|/]{0,60}\| *(?<target>\/\S*)/,
  // Tornado
  /^\[[A-Z] (?<time>\d{6} [\d:]{8}) [^\]\s]+\] \d{3} (?<method>[A-Z]+) (?<target>\S+) \((?<address>[^\s()]+)\) [\d.]+ms/,
  // OpenLiteSpeed, which keeps the quotes around the format in its configuration
  /^"(?:[^"\s]+ )??(?<address>[^"\s]+) \S+ (?<user>[^"\s]+) \[(?<time>[^\]]+)\] (?=")/,
  // chi
  /^(?<time>\d{4}\/\d\d\/\d\d [\d:]{8}) (?:\[[^\]]*\] )?"(?<method>[A-Z]+) (?<target>\S+) HTTP\/[\d.]+" from (?<address>\S+) - /,
  // Squid
  /^(?<time>\d{10}\.\d{3}) +-?\d+ (?<address>\S+) [A-Z_]+\/\d{3} \d+ (?<method>[A-Z]+) (?<target>\S+) (?<user>\S+) [A-Z_]+\/\S+/,
  // Ruby on Rails, whose other lines are about the same request
  /^Started (?<method>[A-Z]+) "(?<target>\/\S*)" for (?<address>\S+) at (?<time>[\d-]+ [\d:]+ [+-]\d{4})$/,
]

/** A date of Tornado: `261129 12:00:00`. */
const SHORT_DATE = /^(\d\d)(\d\d)(\d\d) /

/** Reads lines of servers that write others than access lines. */
export class KnownLineReader implements LineReader {
  readonly #parseTime: (text: string) => number
  /** The layout of the line that was read last, which the next one usually also has. */
  #layout: RegExp | undefined

  constructor(parseTime: (text: string) => number) {
    this.#parseTime = parseTime
  }

  read(line: string, into: LoggedRequest): LineKind {
    const groups = this.#match(line)
    if (groups === undefined) return 'unreadable'
    const { time = '', address = '', user, method, target } = groups.groups ?? {}
    into.timeMs = this.#parseTime(time.replace(' - ', ' ').replace(SHORT_DATE, '20$1-$2-$3 '))
    if (Number.isNaN(into.timeMs) || !isLoggedClient(address)) return 'unreadable'
    into.address = address
    into.forwarded = undefined
    into.user = user === undefined ? undefined : userOf(user)
    into.fields = undefined
    if (target !== undefined) {
      into.method = method ?? ''
      into.path = pathOf(decodeEscapes(target.replace(/^"|"$/g, '')))
      return 'request'
    }
    const start = groups[0].length + 1
    const end = closingQuote(line, start)
    if (end < 0) return 'unreadable'
    return readRequestLine(decodeEscapes(line.slice(start, end)), into) ? 'request' : 'other'
  }

  learn(): void {
    this.#layout = undefined
  }

  sources(line: string): FieldSources {
    const groups = this.#match(line)
    const { address = '', user, time = '', method, target } = groups?.groups ?? {}
    const at = (text: string | undefined) => (text === undefined ? -1 : line.indexOf(text))
    const request = groups === undefined || target !== undefined ? -1 : groups[0].length
    return sourcesOf(line, {
      address: at(address),
      forwarded: -1,
      user: at(user),
      time: at(time),
      request: target === undefined ? request : at(method ?? target),
    })
  }

  #match(line: string): RegExpExecArray | undefined {
    const usual = this.#layout?.exec(line)
    if (usual) return usual
    for (const layout of LAYOUTS) {
      const found = layout.exec(line)
      if (found === null) continue
      this.#layout = layout
      return found
    }
    return undefined
  }
}
