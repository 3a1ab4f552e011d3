import { createHmac, hash as oneShot } from 'node:crypto'
import { type MaybePromise, readAll, thenMaybe } from '../util/maybe-promise.js'
import { warnOnce } from '../util/warn-once.js'
import { isAddressKey } from './by-ip.js'
import type { KeyFunction } from './key.js'

/** Reads one identity at rest from a subject: bounded, printable, without blanks; `undefined` = not limited. */
export type IdentityReader = (subject: unknown) => MaybePromise<string | undefined>

/**
 * Joins key functions into one identity. What they return is hashed (SHA-256, or HMAC-SHA-256 with `secret`, to 128 bits:
 * RFC 2104 §5 allows half), each part by itself, so that `['a', 'bc']` and `['ab', 'c']` differ. Addresses read by
 * `byIp` stay readable without a secret. One part that is `undefined` makes the whole `undefined`. Values that can be
 * nobody's key share a bucket per source address, which `source` reads.
 */
export function identityReader(
  keys: readonly KeyFunction[],
  source: (subject: unknown) => string,
  secret: string | undefined,
): IdentityReader {
  const readers = keys.map((key) => partReader(key as KeyFunction<unknown>, source, secret))
  const first = readers[0] as IdentityReader
  if (readers.length === 1) return first
  return (subject) =>
    thenMaybe(
      readAll(readers, (read) => read(subject)),
      join,
    )
}

function join(parts: readonly (string | undefined)[]): string | undefined {
  return parts.includes(undefined) ? undefined : parts.join('|')
}

function partReader(
  key: KeyFunction<unknown>,
  source: (subject: unknown) => string,
  secret: string | undefined,
): IdentityReader {
  if (isAddressKey(key) && secret === undefined) return key as IdentityReader
  const hashed = lastHash(key)
  return (subject) =>
    thenMaybe(key(subject), (value) => {
      if (value === undefined) return undefined
      if (isKey(value)) return hashed(value, secret)
      warnOfObject(key, value)
      return hash(`malformed:${source(subject)}`, secret)
    })
}

const MAX_LENGTH = 1024

/** Whether a value can be somebody's key. */
export function isKey(value: unknown): value is string | number | bigint {
  if (typeof value === 'string')
    return value.length <= MAX_LENGTH && !value.includes('\0') && value.isWellFormed()
  return typeof value === 'bigint' || Number.isFinite(value)
}

/**
 * Emits a process warning, once, where a key function returned an object, which is probably a mistake in it.
 */
export function warnOfObject<Subject>(key: KeyFunction<Subject>, value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return
  warnOnce(
    'HEADGATE_OBJECT_AS_KEY',
    `headgate: the key function ${key.name || '(anonymous)'} returned an object, which is nobody's key; such requests ` +
      'are limited by their address. Return a string, such as String(user.id).',
  )
}

/** Hashes what a key function gave, once where several limits of a request ask for it. */
type Hashed = (value: string | number | bigint, secret: string | undefined) => string

const hashedBy = new WeakMap<KeyFunction<unknown>, Hashed>()

function lastHash(key: KeyFunction<unknown>): Hashed {
  let lastValue: unknown
  let lastSecret: string | undefined
  let last: string | undefined
  const hashed: Hashed = (value, secret) => {
    if (last !== undefined && value === lastValue && secret === lastSecret) return last
    lastValue = value
    lastSecret = secret
    last = hashedValue(value, secret)
    return last
  }
  const known = hashedBy.get(key) ?? hashed
  hashedBy.set(key, known)
  return known
}

/** What stands in keys for a value that a key function gave. */
export function hashedValue(value: string | number | bigint, secret: string | undefined): string {
  return hash(`value:${value}`, secret)
}

function hash(text: string, secret: string | undefined): string {
  const digest =
    secret === undefined
      ? oneShot('sha256', text, 'base64url')
      : createHmac('sha256', secret).update(text).digest('base64url')
  return digest.slice(0, 22)
}
