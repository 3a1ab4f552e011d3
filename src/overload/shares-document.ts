import { fieldsOf } from '../util/values.js'
import type { ProcessUse } from './tenant-parts.js'

/** The format of the documents. A process does not overwrite documents of another format. */
const FORMAT = 1

/**
 * The most tenants of a document: those that use most. A tenant beyond them uses less than 1/200 of the
 * places.
 */
const MAX_TENANTS = 200
/** Tenants that use fewer places are left out. */
const MIN_PLACES = 0.05

const MAX_KEY_LENGTH = 16
const MAX_PLACES = 1e6

/** What the guard of a process publishes for the others. */
export interface SharesDocument extends ProcessUse {
  /** A random text, the same as long as the guard lives. */
  readonly id: string
  /** The number of the round: each text differs from the last one, which shows that the process lives. */
  readonly round: number
}

/** Returns the largest uses, so that a document stays small. */
export function largestUses(uses: readonly (readonly [key: string, places: number])[]): Map<string, number> {
  const largest = uses.filter(([, places]) => places >= MIN_PLACES).sort(([, a], [, b]) => b - a)
  return new Map(largest.slice(0, MAX_TENANTS).map(([key, places]) => [key, Number(places.toPrecision(4))]))
}

export function encodeShares({ id, round, limit, uses }: SharesDocument): string {
  return JSON.stringify({ headgate: FORMAT, shares: { id, round, limit, uses: [...uses] } })
}

/** Returns the document in a text that any program may have written; `undefined` if it is not one. */
export function decodeShares(text: string): SharesDocument | undefined {
  const fields = fieldsIn(text)
  if (fields.headgate !== FORMAT) return undefined
  const { id, round, limit, uses } = fieldsOf(fields.shares)
  if (typeof id !== 'string' || typeof round !== 'number') return undefined
  if (!isPlaces(limit) || !Array.isArray(uses)) return undefined
  return { id, round, limit, uses: new Map(uses.slice(0, MAX_TENANTS).flatMap((each) => useIn(each) ?? [])) }
}

function fieldsIn(text: string): Readonly<Record<string, unknown>> {
  try {
    return fieldsOf(JSON.parse(text))
  } catch {
    return {}
  }
}

function useIn(value: unknown): [[string, number]] | undefined {
  const [key, places]: unknown[] = Array.isArray(value) ? value : []
  return typeof key === 'string' && key.length <= MAX_KEY_LENGTH && isPlaces(places)
    ? [[key, places]]
    : undefined
}

function isPlaces(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= MAX_PLACES
}
