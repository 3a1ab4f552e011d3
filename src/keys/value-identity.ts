import { hmacSha256, sha256 } from '../platform.js'
import { RecentMap } from '../util/recent-map.js'

/** How identities are hashed. */
export interface HashOptions {
  readonly secret: string | undefined
  /** Whether identities stay in this process: without a `secret`, short values are then not hashed. */
  readonly isLocal?: boolean | undefined
}

const MAX_LENGTH = 1024

type Key = string | number | bigint

/** Returns whether a value of a key function can be a key. */
export function isKey(value: unknown): value is Key {
  if (typeof value === 'string')
    return value.length <= MAX_LENGTH && !value.includes('\0') && value.isWellFormed()
  return typeof value === 'bigint' || Number.isFinite(value)
}

/** Creates the function that returns the identity of a value of a key function. */
export function identityOfValue(options: HashOptions): (value: Key) => string {
  return areWrittenOut(options) ? writeOut : valueHash(options.secret)
}

/** Returns whether identities are the values themselves, written out unless they are long. */
export function areWrittenOut({ secret, isLocal = false }: HashOptions): boolean {
  return isLocal && secret === undefined
}

/**
 * Creates the function that returns the identity of requests from an address whose key is missing or
 * malformed.
 */
export function keylessIdentityOf(secret: string | undefined): (address?: string) => string {
  const hash = identityHash(secret) // no value has this identity, so no client can imitate it
  return (address = '') => hash(`malformed:${address}`)
}

/**
 * Even in this process, longer values are hashed: some features keep the identities of thousands of clients.
 */
const MAX_WRITTEN_OUT = 64

/** What the identity of a written-out value begins with, so that it never equals an address or a hash. */
export const WRITTEN_OUT = '='

function writeOut(value: Key): string {
  const text = String(value)
  return text.length > MAX_WRITTEN_OUT ? hashValue(text) : WRITTEN_OUT + text
}

/**
 * Returns the text of a string or number that is written out in this process, without `WRITTEN_OUT`;
 * `undefined` for a longer or any other value. A text with a character outside U+0001 to U+00FF may not be a
 * valid key (`isKey`).
 */
export function writtenText(value: unknown): string | undefined {
  const text = typeof value === 'number' && Number.isFinite(value) ? String(value) : value
  return typeof text === 'string' && text !== '' && text.length <= MAX_WRITTEN_OUT ? text : undefined
}

/** Returns what joins several identities: in this process, a character that no value contains. */
export function separatorOf(options: HashOptions): string {
  return areWrittenOut(options) ? '\0' : '|'
}

/** Returns an identity as stores outside this process keep it, with written-out values hashed. */
export function shownIdentity(identity: string): string {
  const shown = (part: string) => (part.startsWith(WRITTEN_OUT) ? hashValue(part.slice(1)) : part)
  return identity.split('\0').map(shown).join('|')
}

/** At least how many hashes are cached for each secret. */
const MIN_CACHED = 10_000
/** The longest values whose hashes are cached, in characters. */
const MAX_CACHED_LENGTH = 64

/** Creates the function that returns what storage keys hold in place of a value of a key function. */
export function valueHash(secret: string | undefined): (value: Key) => string {
  const hash = identityHash(secret)
  const cache = caches.get(secret) ?? new RecentMap<string>(MIN_CACHED)
  caches.set(secret, cache)
  return (value) => {
    const text = `value:${value}`
    if (text.length > MAX_CACHED_LENGTH) return hash(text)
    const cached = cache.get(text)
    if (cached !== undefined) return cached
    const hashed = hash(text)
    cache.set(text, hashed)
    return hashed
  }
}

/** The caches by secret. Limits share them, because several often charge one request, and clients return. */
const caches = new Map<string | undefined, RecentMap<string>>()

const hashValue = valueHash(undefined)

function identityHash(secret: string | undefined): (text: string) => string {
  const digest = secret === undefined ? sha256 : hmacSha256(secret)
  return (text) => digest(text).slice(0, 22)
}
