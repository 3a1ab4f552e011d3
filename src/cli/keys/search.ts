import { InputError } from '../failures.js'
import { count } from '../output.js'
import { barText, type Progress, showProgress } from '../progress.js'
import type { KeySettings } from './arguments.js'
import type { StoreConnection } from './connection.js'
import { keyStart, limitOf, partsOf, type StoredLimit, shapeOf, splitKey } from './stored-limit.js'

/** A key that belongs to what was searched for. */
export interface FoundKey {
  readonly limit: StoredLimit
  readonly identity: string
  readonly key: string
}

/** What a search of a store found. */
export interface SearchResult {
  /** All limits that have keys, with the kinds of their identities. */
  readonly limits: ReadonlyMap<StoredLimit, ReadonlySet<string>>
  readonly keys: readonly FoundKey[]
}

/**
 * How many keys a call looks at, and so how long it keeps the server's other clients waiting: about 1 ms.
 */
const KEYS_PER_CALL = 1000

/**
 * Searches all keys of a store for those of an identity, also if it is one of several parts, and for the
 * limits that have keys at all. Reads the names of keys, and changes nothing.
 */
export async function searchStore(
  connection: StoreConnection,
  { prefix, spellings }: Pick<KeySettings, 'prefix' | 'spellings'>,
): Promise<SearchResult> {
  const start = keyStart(prefix)
  const found = collector(start, spellings)
  const progress = await scanProgress(connection)
  try {
    const pattern = `${escapePattern(start)}*`
    let cursor = '0'
    do {
      const words = ['scan', cursor, 'match', pattern, 'count', String(KEYS_PER_CALL)]
      const [next, keys] = readScanReply(await connection.send(...words))
      for (const key of keys) found.add(key)
      progress.add(KEYS_PER_CALL)
      cursor = next
    } while (cursor !== '0')
    return found.result()
  } finally {
    progress.end()
  }
}

/** Returns the next cursor and the keys in a reply to SCAN. */
function readScanReply(reply: unknown): readonly [next: string, keys: readonly string[]] {
  const [next, keys]: readonly unknown[] = Array.isArray(reply) ? reply : []
  if (next === undefined || !Array.isArray(keys))
    throw new InputError(
      'the store sent an invalid reply to SCAN: check that --store is the URL of a Redis or Valkey server',
    )
  return [String(next), keys.map(String)]
}

/** Creates what collects keys. SCAN may return a key several times. */
function collector(start: string, spellings: readonly string[]) {
  const whole = new Set(spellings)
  /** Without fixed texts, such as the one for all unknown browsers of a login. */
  const asPart = new Set(spellings.filter((spelling) => shapeOf(spelling) !== 'text'))
  const limits = new Map<StoredLimit, Set<string>>()
  const byBeginning = new Map<string, StoredLimit | undefined>()
  const keys = new Map<string, FoundKey>()

  function limitAt(beginning: string): StoredLimit | undefined {
    if (byBeginning.has(beginning)) return byBeginning.get(beginning)
    const limit = limitOf(beginning, start)
    byBeginning.set(beginning, limit)
    if (limit !== undefined) limits.set(limit, new Set())
    return limit
  }

  return {
    add(key: string): void {
      const pieces = splitKey(key)
      const limit = pieces && limitAt(pieces.beginning)
      if (pieces === undefined || limit === undefined) return
      const { identity } = pieces
      limits.get(limit)?.add(shapeOf(identity))
      const isFound = whole.has(identity) || partsOf(identity).some((part) => asPart.has(part))
      if (isFound) keys.set(key, { limit, identity, key })
    },
    result: (): SearchResult => ({
      limits: new Map(Array.from(limits).sort(([a], [b]) => compare(a.beginning, b.beginning))),
      keys: Array.from(keys.values()).sort((a, b) => compare(a.key, b.key)), // SCAN has no order
    }),
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

async function scanProgress(connection: StoreConnection): Promise<Progress> {
  const total = process.stderr.isTTY === true ? Number(await connection.send('dbsize')) : 0
  return showProgress(process.stderr, (searched) => searchText(searched, total))
}

/** Returns a line such as ` 42% [########            ] of 5,000,000 keys searched`. */
export function searchText(searched: number, total: number): string {
  return `${barText(searched / Math.max(1, total))} of ${count(total)} keys searched`
}

/** Returns a pattern that matches a text itself. */
export function escapePattern(text: string): string {
  return text.replace(/[\\*?[\]]/g, '\\$&')
}
