import { endsWithAddress } from '../client-address.js'
import { cellEnd, cellMark, cellText } from '../csv-cell.js'
import { closingQuote } from '../line-fields.js'
import { isLoggedClient } from '../logged-client.js'
import type { Template, TemplatePart } from './template.js'
import type { Role } from './variables.js'

/** A part of a template, with what shows where its value ends. */
export interface MatchedPart extends TemplatePart {
  /** What follows the value; `undefined` if it ends the line. */
  readonly next: string | undefined
  readonly isQuoted: boolean
  /** The comma or semicolon beside the value: then quotes may be around it, and it may have that mark. */
  readonly mark: string | undefined
}

/** Returns the parts up to the last that is read. Of several with one role, only the best keeps it. */
export function partsToMatch({ parts, after }: Template): MatchedPart[] {
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
      mark: cellMark(next || part.before),
    }
  })
}

/** Returns a value as a line has it, without the spaces and quotes that columns may have. */
export function valueText(text: string, { isQuoted, mark }: MatchedPart): string {
  if (isQuoted) return text
  const value = text.trim()
  return mark === undefined ? value : cellText(value)
}

/** Returns the first place where a value may end, or the last for the longest value; -1 if there is none. */
export function firstEnd(
  line: string,
  start: number,
  { next, isQuoted, mark }: MatchedPart,
  isLongest: boolean,
): number {
  if (next === undefined) return line.length
  if (isQuoted) return closingQuote(line, start)
  const end = mark === undefined ? -1 : cellEnd(line, start, next)
  if (end >= 0) return end
  return isLongest ? line.lastIndexOf(next) : line.indexOf(next, start)
}

/** Returns the next place where a value may end. Text in quotes has no other, since servers escape quotes. */
export function nextEnd(
  line: string,
  end: number,
  { next, isQuoted }: MatchedPart,
  isLongest: boolean,
): number {
  if (next === undefined || isQuoted || end === 0) return -1
  return isLongest ? line.lastIndexOf(next, end - 1) : line.indexOf(next, end + 1)
}

/** Returns whether a text may be the value of a part. */
export function isValue(
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
