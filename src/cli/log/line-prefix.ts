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
  // kubectl logs --prefix: `[pod/web-6d4cf56db6-x2x7k/nginx] `
  String.raw`\[pod/[^\s\]]+\] `,
  // stern: the pod and the container, or also the namespace before them
  String.raw`(?:[a-z\d][a-z\d.-]* ){2}`,
  String.raw`(?:[a-z\d][a-z\d.-]* ){3}`,
  // The files of CRI: `2024-05-01T12:00:00.000000000Z stdout F `. P is a part of a line that goes on.
  String.raw`${ISO_TIME} (?<stream>stdout|stderr) (?<tag>[FP])(?::\S+)?(?: |$)`,
  // docker logs --timestamps, kubectl logs --timestamps
  `${ISO_TIME} `,
  // syslog of RFC 5424, also with the length before it (RFC 6587)
  String.raw`(?:\d+ )?${PRIORITY}\d{1,2} (?:-|${ISO_TIME}) \S+ \S+ \S+ \S+ (?:${STRUCTURED_DATA})(?: |$)(?:${BYTE_ORDER_MARK})?`,
  // syslog of RFC 3164, journalctl and rsyslog's files: the host and the program are not always there
  String.raw`(?:${PRIORITY})?(?:${SYSLOG_TIME}|${ISO_TIME}) (?:\S+ )?(?:[^\s:]+: )?`,
]

/** One prefix may stand in another, such as a timestamp in that of kubectl. */
const MAX_DEPTH = 2
/** How many lines, or characters, of an input decide which prefix its lines have. */
const SAMPLE_LINES = 1000
const SAMPLE_LENGTH = 1024 * 1024
/** A line that CRI has split is unreadable if it is longer. */
const MAX_LINE = 4 * 1024 * 1024

/** Scores lines that begin where the text does: 0 for a text that is not a request. */
type Score = (text: string) => number

/**
 * Takes the lines of one input, without their prefix; `undefined` for a line that is too long, or that lacks
 * the prefix.
 */
type OnLine = (text: string | undefined, isTooLong: boolean) => void

/** Takes the first lines of one input, without their prefix, before any is passed on. */
type OnSample = (lines: readonly string[]) => void

/**
 * Removes what log collectors write before each line. Which prefix an input has is decided once, by its
 * first lines: the one without which most of them can be read. An input that can be read as it is stays as
 * it is, and a later line without the prefix is unreadable, so that no client can write one.
 */
export class LinePrefix {
  readonly #score: Score
  readonly #onLine: OnLine
  readonly #onSample: OnSample
  #sample: (string | undefined)[] | undefined = []
  #sampleLength = 0
  #strip: ((line: string) => string | undefined) | undefined

  constructor(score: Score, onSample: OnSample, onLine: OnLine) {
    this.#score = score
    this.#onSample = onSample
    this.#onLine = onLine
  }

  push(line: string | undefined): void {
    if (this.#sample === undefined) this.#pass(line)
    else this.#collect(line, this.#sample)
  }

  /** Passes the lines of a short input. */
  end(): void {
    if (this.#sample !== undefined) this.#decide(this.#sample)
  }

  #collect(line: string | undefined, sample: (string | undefined)[]): void {
    sample.push(line)
    this.#sampleLength += line?.length ?? 0
    if (sample.length >= SAMPLE_LINES || this.#sampleLength >= SAMPLE_LENGTH) this.#decide(sample)
  }

  #decide(sample: readonly (string | undefined)[]): void {
    this.#sample = undefined
    const lines = sample.filter((line) => line !== undefined)
    const { prefixes } = likeliest(lines, this.#score)
    if (prefixes.length > 0) this.#strip = stripper(prefixes)
    const strip = prefixes.length > 0 ? stripper(prefixes) : (line: string) => line
    this.#onSample(lines.map(strip).filter((line) => line !== undefined))
    for (const line of sample) this.#pass(line)
  }

  #pass(line: string | undefined): void {
    const text = this.#strip === undefined || line === undefined ? line : this.#strip(line)
    this.#onLine(text, line === undefined)
  }
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
  const scores = lines.map(score)
  let best: FoundPrefix = { score: scores.reduce((sum, each) => sum + each, 0), prefixes: [] }
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

/** The score of an address. */
export const BEST_SCORE = 2

/**
 * Returns a function that returns a line without its prefixes: `undefined` for one that lacks them, '' for a
 * part of a line that goes on.
 */
function stripper(prefixes: readonly string[]): (line: string) => string | undefined {
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
