import { endsWithAddress } from '../client-address.js'
import { closingQuote, unescaped, userOf } from '../line-fields.js'
import type { FieldSources, LineReader } from '../line-reader.js'
import { type ToUtc, timeParser } from '../log-time.js'
import { isLoggedClient } from '../logged-client.js'
import { type LineKind, type LoggedRequest, pathOf, readRequestLine } from '../request-line.js'
import type { Template, TemplatePart } from './template.js'
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
      const text = line.slice(start, end)
      if (!isValue(text, part, this.#parseTime) || !this.#hasParts(line, end, index + 1)) continue
      this.#texts[index] = text
      return true
    }
    this.#work += (line.length - start) / CHARACTERS_PER_UNIT
    return false
  }
}

interface MatchedPart extends TemplatePart {
  /** What follows the value; `undefined` if it ends the line. */
  readonly next: string | undefined
  readonly isQuoted: boolean
}

/** Returns the parts up to the last that is read. Of several with one role, only the best keeps it. */
function partsToMatch({ parts, after }: Template): MatchedPart[] {
  const best = new Map<Role, TemplatePart>()
  for (const part of parts) {
    const other = part.role && best.get(part.role)
    if (part.role !== undefined && (other === undefined || part.rank < other.rank)) best.set(part.role, part)
  }
  const isRead = (part: TemplatePart) => part.role !== undefined && best.get(part.role) === part
  const last = parts.findLastIndex(isRead)
  return parts.slice(0, last + 1).map((part, i) => {
    const next = parts[i + 1]?.before ?? after
    const isQuoted = part.before.endsWith('"') && next.startsWith('"')
    return {
      ...part,
      role: isRead(part) ? part.role : undefined,
      next: next === '' ? undefined : next,
      isQuoted,
    }
  })
}

/** Returns the first place where a value may end, or the last for the longest value; -1 if there is none. */
function firstEnd(line: string, start: number, { next, isQuoted }: MatchedPart, isLongest: boolean): number {
  if (next === undefined) return line.length
  if (isQuoted) return closingQuote(line, start)
  return isLongest ? line.lastIndexOf(next) : line.indexOf(next, start)
}

/** Returns the next place where a value may end. Text in quotes has no other, since servers escape quotes. */
function nextEnd(line: string, end: number, { next, isQuoted }: MatchedPart, isLongest: boolean): number {
  if (next === undefined || isQuoted || end === 0) return -1
  return isLongest ? line.lastIndexOf(next, end - 1) : line.indexOf(next, end + 1)
}

function isValue(
  text: string,
  { role, isQuoted }: MatchedPart,
  parseTime: (text: string) => number,
): boolean {
  if (role === 'time') return !Number.isNaN(parseTime(text))
  if (role === 'address') return isLoggedClient(text) || endsWithAddress(text)
  if (isQuoted) return true
  if (role === 'forwarded') return text === '-' || endsWithAddress(text)
  if (role === 'request') return text === '-' || /^[a-z_-]+ \S+(?: HTTP\/[\d.]+)?$/i.test(text)
  return role !== 'method' || /^[a-z_-]+$/i.test(text)
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
  if (request !== undefined) return readRequestLine(unescaped(request), into) ? 'request' : 'other'
  if (method === '-' || path === '-') return 'other'
  into.method = method ?? ''
  into.path = path === undefined ? '' : pathOf(fromSlash(unescaped(path)))
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
