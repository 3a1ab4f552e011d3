import { clientAddress, endsWithAddress } from './client-address.js'
import { fieldsOf, type LineField, textOfField } from './line-fields.js'
import type { HeadLayout } from './line-head.js'
import { lineParts } from './line-parts.js'
import { isPrivateAddress } from './private-address.js'

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

/** A field holds forwarded lists if it holds them, or `-`, in this share of lines. */
const NEARLY_ALL = 0.9

/** Returns the layout of a log by some of its lines: no client decides it alone. */
export function learnLayout(lines: readonly string[], parseTime: (text: string) => number): AccessLayout {
  const requestAfter = usualRequestAfter(lines, parseTime)
  const heads: string[][] = []
  const tails: (readonly [line: string, fields: readonly LineField[]])[] = []
  for (const line of lines) {
    const parts = lineParts(line, parseTime, requestAfter)
    if (parts === undefined) continue
    const head = fieldsOf(line, parts.headStart, parts.headEnd)
    heads.push(
      head.filter(({ opener }, i) => i < 3 || opener === '').map((field) => textOfField(line, field)),
    )
    tails.push([line, fieldsOf(line, parts.request.end)])
  }
  const common = heads.filter(([, identity]) => identity === '-')
  const hasListAfterIdentity = isListColumn(common.map((head) => head[2]))
  return {
    requestAfter,
    forwardedAfter: forwardedColumn(tails),
    hasListAfterIdentity,
    fieldsAfterUser: hasListAfterIdentity ? 0 : fieldsAfterUser(common),
  }
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

/** Returns which field after the request holds forwarded lists: the last one that does. */
function forwardedColumn(
  tails: readonly (readonly [line: string, fields: readonly LineField[]])[],
): number | undefined {
  const width = Math.max(0, ...tails.map(([, fields]) => fields.length))
  for (let column = width - 1; column >= 0; column--) {
    const values = tails.map(([line, fields]) => candidateAt(line, fields, column))
    if (isListColumn(values)) return column + 1
  }
  return undefined
}

/**
 * Returns the text of a field that may be a forwarded list. The referrer and the agent, which clients write,
 * are none: two quoted fields, if the line has no other. Nor is an address with a port outside of quotes,
 * such as that of an upstream server.
 */
function candidateAt(line: string, fields: readonly LineField[], column: number): string | undefined {
  const field = fields[column]
  if (field === undefined) return undefined
  const quoted = fields.filter(({ opener }) => opener === '"')
  if (quoted.length === 2 && quoted.includes(field)) return undefined
  const text = textOfField(line, field)
  return field.opener === '' && /^[\d.]+:\d+/.test(text) ? undefined : text
}

/**
 * Returns whether nearly all values are forwarded lists, or `-`, and one has an address of a client. What a
 * client began may be anything, but a proxy appends an address.
 */
function isListColumn(values: readonly (string | undefined)[]): boolean {
  const lists = values.filter((value) => value === '-' || (value !== undefined && endsWithAddress(value)))
  if (lists.length < NEARLY_ALL * values.length) return false
  return lists.some((value) => value !== '-' && !isPrivateAddress(clientAddress('', value)))
}

/**
 * Returns how many fields, but for those in brackets or quotes, follow the user in every line. A name may have
 * spaces, so one of the lines must be without a user.
 */
function fieldsAfterUser(heads: readonly (readonly string[])[]): number {
  const least = Math.min(...heads.map((head) => head.length))
  const isCertain = heads.some((head) => head[2] === '-' && head.length === least)
  return isCertain ? Math.max(0, least - 3) : 0
}
