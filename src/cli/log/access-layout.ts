import { forwardedColumn, isListColumn, privateColumn, type Tail } from './forwarded-column.js'
import { fieldsOf, type LineField, textOfField } from './line-fields.js'
import type { HeadLayout } from './line-head.js'
import { lineParts } from './line-parts.js'

/** What the access lines of a log have in common, as far as single lines do not show it. */
export interface AccessLayout extends HeadLayout {
  /** How many fields after the time the request stands; `undefined` if that is not known. */
  readonly requestAfter: number | undefined
  /** How many fields after the request the forwarded list stands; `undefined` if there is none. */
  readonly forwardedAfter: number | undefined
}

/** The layout of the common and the combined format. */
export const COMBINED_LAYOUT: AccessLayout = {
  requestAfter: undefined,
  forwardedAfter: undefined,
  hasListAfterIdentity: false,
  fieldsAfterUser: 0,
}

/** Returns the layout of a log by some of its lines: no client decides it alone. */
export function learnLayout(lines: readonly string[], parseTime: (text: string) => number): AccessLayout {
  const requestAfter = usualRequestAfter(lines, parseTime)
  const heads: Head[] = []
  const tails: Tail[] = []
  for (const line of lines) {
    const parts = lineParts(line, parseTime, requestAfter)
    if (parts === undefined) continue
    heads.push(headOf(line, fieldsOf(line, parts.headStart, parts.headEnd)))
    tails.push([line, fieldsOf(line, parts.request.end)])
  }
  const common = heads.filter(({ texts: [, identity] }) => identity === '-')
  const hasListAfterIdentity = isListColumn(common.map(({ texts }) => texts[2]))
  return {
    requestAfter,
    forwardedAfter: forwardedColumn(tails) ?? (heads.every(isEmpty) ? privateColumn(tails) : undefined),
    hasListAfterIdentity,
    fieldsAfterUser: fieldsAfterUser(heads, hasListAfterIdentity ? 3 : 1),
  }
}

/** What stands before the time, or after one that the line begins with. */
interface Head {
  readonly texts: readonly string[]
  /** The same, with what encloses them: an identity is a dash in nothing. */
  readonly enclosed: readonly string[]
  /** How many fields in brackets or quotes it ends with. */
  readonly enclosedAtEnd: number
}

function headOf(line: string, fields: readonly LineField[]): Head {
  const lastBare = fields.findLastIndex(({ opener }) => opener === '')
  return {
    texts: fields.map((field) => textOfField(line, field)),
    enclosed: fields.map(({ start, end }) => line.slice(start, end)),
    enclosedAtEnd: fields.length - 1 - lastBare,
  }
}

function isEmpty({ texts }: Head): boolean {
  return texts.length === 0
}

function usualRequestAfter(
  lines: readonly string[],
  parseTime: (text: string) => number,
): number | undefined {
  const counts = new Map<number, number>()
  for (const line of lines) {
    const after = lineParts(line, parseTime)?.requestAfter
    if (after !== undefined) counts.set(after, (counts.get(after) ?? 0) + 1)
  }
  const [usual] = [...counts].sort(([afterA, a], [afterB, b]) => b - a || afterA - afterB)
  return usual?.[0]
}

/**
 * Returns how many fields follow the user in every line, where the identity is not before `firstIdentity`. A name
 * may have spaces and brackets, so a line without a user tells. In a log that has no such line, fields in
 * brackets or quotes count, if all lines end with them.
 */
function fieldsAfterUser(heads: readonly Head[], firstIdentity: number): number {
  const ends = heads.flatMap(({ texts, enclosed, enclosedAtEnd }) => {
    const identityAt = enclosed.indexOf('-', firstIdentity)
    const after = texts.length - identityAt - 2
    const hasUser = texts[identityAt + 1] !== '-' && texts[identityAt + 1] !== ''
    return identityAt < 0 || after < 0 ? [] : [{ after, hasUser, sure: Math.min(after, enclosedAtEnd) }]
  })
  if (ends.length === 0) return 0
  const least = Math.min(...ends.map(({ after }) => after))
  const isCertain = ends.some(({ after, hasUser }) => after === least && !hasUser)
  return isCertain ? least : Math.min(...ends.map(({ sure }) => sure))
}
