import { decodeEscapes, userOf } from '../line-fields.js'
import type { FieldSources, LineReader } from '../line-reader.js'
import { type ToUtc, timeParser } from '../log-time.js'
import { type LineKind, type LoggedRequest, pathOf, readRequestLine } from '../request-line.js'
import { firstEnd, isValue, type MatchedPart, nextEnd, partsToMatch, valueText } from './matched-part.js'
import type { Template } from './template.js'
import type { Role } from './variables.js'

/**
 * How much work one line may take: the places that are tried as the end of a value, with the characters that
 * are searched for them. A client can write text that looks like what follows it.
 */
const MAX_WORK = 1_000_000
const CHARACTERS_PER_UNIT = 64

/**
 * Reads lines that are written as a template says. What follows the last value is not read.
 *
 * A client that begins a forwarded list without quotes, or a name, can write what looks like the end of the
 * list. A line that can be read in two ways counts as one without an address.
 */
export class TemplateReader implements LineReader {
  readonly #parts: readonly MatchedPart[]
  readonly #isAmbiguous: boolean
  readonly #parseTime: (text: string) => number
  readonly #texts: string[] = []
  #isGreedy = false
  #work = 0
  #furthest = 0

  constructor(template: Template, toUtc?: ToUtc) {
    this.#parts = partsToMatch(template)
    this.#parseTime = timeParser(toUtc)
    this.#isAmbiguous = this.#parts.some(({ role, isQuoted }) => role === 'forwarded' && !isQuoted)
  }

  read(line: string, into: LoggedRequest): LineKind {
    const values = this.#valuesOf(line, false)
    if (values === undefined) return 'unreadable'
    const isCertain = !this.#isAmbiguous || hasSameClient(values, this.#valuesOf(line, true))
    return fill(into, isCertain ? values : { ...values, address: '', forwarded: '-' }, this.#parseTime)
  }

  learn(): void {
    // The template says all.
  }

  sources(): FieldSources {
    return sourcesOf(this.#parts)
  }

  /** Returns where a line that could not be read differs from the format, as messages say it. */
  mismatch(line: string): string {
    this.#valuesOf(line, false)
    const { name, before, next } = this.#parts[this.#furthest] as MatchedPart
    const begin = this.#furthest === 0 && before !== '' ? `${JSON.stringify(before)} and ` : ''
    return `no ${begin}${name}${next === undefined ? '' : ` before ${JSON.stringify(next)}`}`
  }

  /** Returns the values of a line, with the longest forwarded list or the shortest; `undefined` if it differs. */
  #valuesOf(line: string, isGreedy: boolean): Values | undefined {
    this.#isGreedy = isGreedy
    this.#work = 0
    this.#furthest = 0
    return this.#hasParts(line, 0, 0) ? valuesByRole(this.#parts, this.#texts) : undefined
  }

  /** Returns whether the line has the parts from this one on, from `at` on. */
  #hasParts(line: string, at: number, index: number): boolean {
    const part = this.#parts[index]
    if (part === undefined) return true
    if (!line.startsWith(part.before, at)) return false
    this.#furthest = Math.max(this.#furthest, index)
    const start = at + part.before.length
    const isLongest = this.#isGreedy && part.role === 'forwarded'
    let end = firstEnd(line, start, part, isLongest)
    for (let from = start; end >= start; end = nextEnd(line, end, part, isLongest)) {
      this.#work += 1 + Math.abs(end - from) / CHARACTERS_PER_UNIT
      if (this.#work > MAX_WORK) return false
      from = end
      const text = valueText(line.slice(start, end), part)
      if (!isValue(text, part, this.#parseTime) || !this.#hasParts(line, end, index + 1)) continue
      this.#texts[index] = text
      return true
    }
    this.#work += (line.length - start) / CHARACTERS_PER_UNIT
    return false
  }
}

type Values = Partial<Record<Role, string>>

function valuesByRole(parts: readonly MatchedPart[], texts: readonly string[]): Values {
  const values: Values = {}
  for (const [i, { role }] of parts.entries()) if (role !== undefined) values[role] = texts[i] ?? ''
  return values
}

/** Returns whether the client is the same, whether its forwarded list is as short or as long as possible. */
function hasSameClient(one: Values, other: Values | undefined): boolean {
  return one.forwarded === other?.forwarded && one.address === other?.address
}

/** Fills in a request. One without a method and a path is a request all the same, if the format has neither. */
function fill(into: LoggedRequest, values: Values, parseTime: (text: string) => number): LineKind {
  const { address = '', forwarded, user, time = '', request, method, path } = values
  const isList = address.includes(',')
  into.timeMs = parseTime(time)
  into.address = isList ? '' : address
  into.forwarded = isList ? address : forwarded
  into.user = user === undefined ? undefined : userOf(user)
  into.fields = undefined
  into.method = ''
  into.path = ''
  if (request !== undefined) return readRequestLine(decodeEscapes(request), into) ? 'request' : 'other'
  if (method === '-' || path === '-') return 'other'
  into.method = method ?? ''
  into.path = path === undefined ? '' : pathOf(fromSlash(decodeEscapes(path)))
  return 'request'
}

/** Returns a path without the host that a format has before it. */
function fromSlash(path: string): string {
  const slash = path.indexOf('/')
  return slash > 0 && !/^https?:/i.test(path) ? path.slice(slash) : path
}

function sourcesOf(parts: readonly MatchedPart[]): FieldSources {
  const nameOf = (wanted: Role) => parts.find(({ role }) => role === wanted)?.name
  const request = nameOf('request')
  return {
    address: nameOf('address'),
    forwarded: nameOf('forwarded'),
    user: nameOf('user'),
    time: nameOf('time'),
    method: request ?? nameOf('method'),
    path: request ?? nameOf('path'),
  }
}
