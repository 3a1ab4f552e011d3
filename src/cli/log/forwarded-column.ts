import { clientAddress, endsWithAddress, isForwardedList } from './client-address.js'
import { type LineField, textOfField } from './line-fields.js'
import { isPrivateAddress } from './private-address.js'

/** A field holds forwarded lists if it holds them, or `-`, in this share of lines. */
const NEARLY_ALL = 0.9

/** What stands after the request. */
export type Tail = readonly [line: string, fields: readonly LineField[]]

/** Returns which field after the request holds forwarded lists: the last one that does. */
export function forwardedColumn(tails: readonly Tail[]): number | undefined {
  const width = Math.max(0, ...tails.map(([, fields]) => fields.length))
  for (let column = width - 1; column >= 0; column--) {
    const values = tails.map(([line, fields]) => candidateAt(line, fields, column))
    if (isListColumn(values)) return column + 1
  }
  return undefined
}

/**
 * Returns which field after the request holds forwarded lists in a log without other addresses of clients, as
 * Envoy's, all of which are private or missing: the first one in quotes.
 */
export function privateColumn(tails: readonly Tail[]): number | undefined {
  const width = Math.min(...tails.map(([, fields]) => fields.length))
  for (let column = 0; column < width; column++) {
    const isPrivate = tails.every(([line, fields]) => {
      const text = fields[column]?.opener === '"' ? candidateAt(line, fields, column) : undefined
      return text === '-' || (text !== undefined && isForwardedList(text))
    })
    if (isPrivate) return column + 1
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
export function isListColumn(values: readonly (string | undefined)[]): boolean {
  const lists = values.filter((value) => value === '-' || (value !== undefined && endsWithAddress(value)))
  if (lists.length < NEARLY_ALL * values.length) return false
  return lists.some((value) => value !== '-' && !isPrivateAddress(clientAddress('', value)))
}
