import { parseAddress } from '../../keys/address.js'
import { endsWithAddress } from './client-address.js'
import type { LineKind, LoggedRequest } from './request-line.js'

const DATE = String.raw`\d{4}-\d\d-\d\d`
const CLOCK = String.raw`\d\d:\d\d:\d\d`
/** As of RFC 3339; journalctl leaves the colon out of the zone. */
const ISO_TIME = String.raw`${DATE}[T ]${CLOCK}(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)`
/** The times of RFC 3164 (and `-o short-precise`), of `-o short-full` and of `-o short-unix`. */
const SYSLOG_TIME = String.raw`[A-Z][a-z]{2} [ \d]\d ${CLOCK}(?:\.\d{1,6})?|[A-Z][a-z]{2} ${DATE} ${CLOCK} \S+|\d{10}\.\d{6}`
const PRIORITY = String.raw`<\d{1,3}>`
const STRUCTURED_DATA = String.raw`-|(?:\[(?:[^\]\\]|\\.)*\])+`
/** The byte order mark of UTF-8, read as Latin-1. */
const BYTE_ORDER_MARK = 'ï»¿'

/**
 * What log collectors write before a line, as sources of patterns. None matches the beginning of an access
 * log.
 */
const PREFIXES: readonly string[] = [
  // docker compose logs, docker service logs: `web-1  | `
  String.raw`[\w.@-]+ *\|(?: |$)`,
  // pm2 logs: `0|web  | `, also with --time
  String.raw`\d+\|[^|]{1,64}\| (?:${DATE}T${CLOCK}: )?`,
  // kubectl logs --prefix: `[pod/web-6d4cf56db6-x2x7k/nginx] `
  String.raw`\[pod/[^\s\]]+\] `,
  // stern: the pod and the container, or also the namespace before them
  String.raw`(?:[a-z\d][a-z\d.-]* ){2}`,
  String.raw`(?:[a-z\d][a-z\d.-]* ){3}`,
  // The files of CRI: `2024-05-01T12:00:00.000000000Z stdout F `. P is a part of a line that goes on.
  String.raw`${ISO_TIME} (?<stream>stdout|stderr) (?<tag>[FP])(?::\S+)?(?: |$)`,
  // fly logs: the machine, the region and the level
  String.raw`${ISO_TIME} \w+\[\w+\] [a-z]{3} \[\w+\] ?`,
  // Python's loggers, and Ambassador's
  String.raw`(?:[A-Z]{4,8}:[\w.]+:|ACCESS )`,
  // A program and its number, as journalctl -o cat and rsyslog's templates leave them
  String.raw`[\w./-]+\[\d+\]: `,
  // docker logs --timestamps, kubectl logs --timestamps, aws logs tail --format short
  String.raw`${DATE}T${CLOCK}(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)? `,
  // syslog of RFC 5424, also with the length before it (RFC 6587)
  String.raw`(?:\d+ )?${PRIORITY}\d{1,2} (?:-|${ISO_TIME}) \S+ \S+ \S+ \S+ (?:${STRUCTURED_DATA})(?: |$)(?:${BYTE_ORDER_MARK})?`,
  // syslog of RFC 3164, journalctl and rsyslog's files: the host and the program are not always there
  String.raw`(?:${PRIORITY})?(?:${SYSLOG_TIME}|${ISO_TIME}) (?:\S+ )?(?:[^\s:]+: )?`,
]

/** One prefix may stand in another, such as a timestamp in that of kubectl. */
const MAX_DEPTH = 2
/** A line that CRI has split is unreadable if it is longer. */
const MAX_LINE = 4 * 1024 * 1024

/** Returns the sum of the scores of a log's first lines, as they would be read. */
export type Score = (lines: readonly string[]) => number

/** Returns a line without its prefixes: `undefined` for one that lacks them, '' for a part that goes on. */
export type Strip = (line: string) => string | undefined

/** The score of an address, which says more than a name. */
const BEST_SCORE = 2
/** A line that has nothing between its first field and the time, which may be a part of another line. */
const NO_USER = /^\S+ (?:- )?(?:\[|\d{4}-\d\d-|\d\d\/[A-Z])/

/** Returns how sure it is that a request begins where a text does, which was read as this kind. */
export function prefixScore(text: string, kind: LineKind, { address, forwarded }: LoggedRequest): number {
  if (kind !== 'request') return 0
  const hasAddress = address === '' ? endsWithAddress(forwarded ?? '') : parseAddress(address) !== undefined
  return !hasAddress || NO_USER.test(text) ? 1 : BEST_SCORE
}

/**
 * Returns the prefixes, the outermost first, without which most of the lines can be read; none if most can be
 * read as they are.
 */
export function findPrefixes(lines: readonly string[], score: Score): readonly string[] {
  return likeliest(lines, score).prefixes
}

interface FoundPrefix {
  readonly score: number
  readonly prefixes: readonly string[]
}

/**
 * Returns the prefixes, the outermost first, without which most can be read of lines that had the `outer`
 * ones. Of several, the shortest list.
 */
function likeliest(lines: readonly string[], score: Score, outer: readonly string[] = []): FoundPrefix {
  let best: FoundPrefix = { score: score(lines), prefixes: [] }
  if (outer.length === MAX_DEPTH) return best
  for (const prefix of PREFIXES) {
    const pattern = new RegExp(`^${prefix}`)
    const rest = lines.filter((line) => pattern.test(line)).map((line) => line.replace(pattern, ''))
    if (outer.includes(prefix) || rest.length * BEST_SCORE <= best.score) continue
    const inner = likeliest(rest, score, [...outer, prefix])
    if (inner.score > best.score) best = { score: inner.score, prefixes: [prefix, ...inner.prefixes] }
  }
  return best
}

/** Creates a function that removes prefixes from the lines of one input. */
export function stripper(prefixes: readonly string[]): Strip {
  if (prefixes.length === 0) return (line) => line
  const pattern = new RegExp(`^${prefixes.join('')}`)
  const begun = new Map<string, string>() // by stream: what CRI has written of a line

  return function strip(line) {
    const found = pattern.exec(line)
    if (found === null) return undefined
    const text = line.slice(found[0].length)
    const { stream, tag } = found.groups ?? {}
    if (stream === undefined) return text
    const whole = (begun.get(stream) ?? '') + text
    begun.delete(stream)
    if (tag === 'P') begun.set(stream, whole.slice(0, MAX_LINE + 1))
    if (tag === 'P') return ''
    return whole.length > MAX_LINE ? undefined : whole
  }
}
