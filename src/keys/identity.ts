import { type MaybePromise, readAll, thenMaybe } from '../util/maybe-promise.js'
import { isObject } from '../util/values.js'
import { warnOnce } from '../util/warn-once.js'
import type { KeyFunction } from './key-types.js'
import { NotRequestError } from './request.js'
import { isMissing, skips } from './skipping.js'
import { addressUseOf } from './source-address.js'
import {
  areWrittenOut,
  type HashOptions,
  identityOfValue,
  isKey,
  keylessIdentityOf,
  separatorOf,
  WRITTEN_OUT,
  writtenText,
} from './value-identity.js'
import { keyWatch } from './watch-key.js'

/**
 * Returns the identity of a subject as it is stored: bounded, and, if it leaves the process, printable and
 * without blanks; `undefined` if the limit does not apply.
 */
export type IdentityReader<Subject = unknown> = (subject: Subject) => MaybePromise<string | undefined>

export interface IdentityOptions extends HashOptions {
  /**
   * Returns the source address of a request, and `undefined` for any other subject. Values that cannot be
   * keys share a bucket for each address.
   */
  readonly readAddress: (subject: unknown) => string | undefined
}

/**
 * Creates the reader that joins key functions into one identity. What they return is hashed (SHA-256, or
 * HMAC-SHA-256 with `secret`, to 128 bits: RFC 2104 §5 allows half), each part by itself, so that
 * `['a', 'bc']` and `['ab', 'c']` differ. Addresses read by `byIp` stay readable without a secret. If one of
 * them skips a subject, the limit does not apply to it.
 */
export function identityReader<Subject>(
  keys: readonly KeyFunction<Subject>[],
  options: IdentityOptions,
): IdentityReader<Subject> {
  const readers = keys.map((key) => partReader(key, options))
  const [first] = readers
  if (first !== undefined && readers.length === 1) return first
  const separator = separatorOf(options)
  const readParts = (subject: Subject) => readAll(readers, (read) => read(subject))
  return (subject) =>
    thenMaybe(readParts(subject), (parts) => (parts.includes(undefined) ? undefined : parts.join(separator)))
}

/**
 * An identity as it is stored, and as its keys returned it. The values of several keys are joined by
 * `'\\0'`.
 */
export interface RawIdentity {
  readonly identity: string
  readonly raw: string
}

/** Creates a reader like `identityReader`. It also returns the values that the keys returned. */
export function rawIdentityReader<Subject>(
  keys: readonly KeyFunction<Subject>[],
  options: IdentityOptions,
): (subject: Subject) => MaybePromise<RawIdentity | undefined> {
  const readers = keys.map((key) => rawPartReader(key, options))
  const separator = separatorOf(options)
  return (subject) =>
    thenMaybe(
      readAll(readers, (read) => read(subject)),
      (parts) => {
        if (parts.some((part) => part === undefined)) return undefined
        const join = (of: keyof RawIdentity, between: string) => parts.map((part) => part?.[of]).join(between)
        return { identity: join('identity', separator), raw: join('raw', '\0') }
      },
    )
}

function rawPartReader<Subject>(key: KeyFunction<Subject>, options: IdentityOptions) {
  const isIdentity = returnsIdentity(key, options)
  const identify = identifier(key, options)
  const watchKey = keyWatch(key)
  return (subject: Subject): MaybePromise<RawIdentity | undefined> =>
    thenMaybe<unknown, RawIdentity | undefined>(key(subject), (value) => {
      if (!isIdentity) watchKey(value, subject)
      const identity = isIdentity ? (value as string | undefined) : identify(value, subject)
      if (identity === undefined) return undefined
      return { identity, raw: isKey(value) ? String(value) : identity }
    })
}

function partReader<Subject>(key: KeyFunction<Subject>, options: IdentityOptions): IdentityReader<Subject> {
  if (returnsIdentity(key, options)) return key
  const identify = watchedIdentifier(key, options)
  return (subject) => thenMaybe(key(subject), (value) => identify(value, subject))
}

function watchedIdentifier(key: KeyFunction<never>, options: IdentityOptions) {
  const identify = identifier(key, options)
  const watchKey = keyWatch(key)
  return (value: unknown, subject: unknown) => {
    watchKey(value, subject)
    return identify(value, subject)
  }
}

/**
 * How a limit in this process identifies subjects. Most identities are `beginning` and then a text. They are
 * hashed in these two pieces, so that no charge has to join them.
 */
export interface TextKey {
  readonly beginning: string
  readonly key: KeyFunction<unknown>
  /**
   * Returns the text for a value that the key returned; `undefined` if only `identify` finds its identity. A
   * text with a character outside U+0001 to U+00FF also needs `identify`. Absent if every string is a text.
   */
  readonly textOf?: (value: unknown, subject: unknown) => string | undefined
  identify(value: unknown, subject: unknown): string | undefined
}

/** Returns how a limit in this process identifies the subjects of its key functions. */
export function textKey(keys: readonly KeyFunction<unknown>[], options: IdentityOptions): TextKey {
  const [only] = keys
  if (only === undefined || keys.length > 1 || !areWrittenOut(options) || returnsIdentity(only, options)) {
    const identify = (value: unknown) => value as string | undefined
    return { beginning: '', key: identityReader(keys, options), identify }
  }
  const watchKey = keyWatch(only)
  return {
    beginning: WRITTEN_OUT,
    key: only,
    textOf(value, subject) {
      const text = writtenText(value)
      if (text !== undefined) watchKey(text, subject)
      return text
    },
    identify: watchedIdentifier(only, options),
  }
}

/** Creates the function that makes an identity of what a key function returned for a subject. */
export function identifier(
  key: KeyFunction<never>,
  { readAddress, secret, isLocal = false }: IdentityOptions,
): (value: unknown, subject: unknown) => string | undefined {
  const keylessIdentity = keylessIdentityOf(secret)
  const identityOf = identityOfValue({ secret, isLocal })

  return function identify(value, subject) {
    if (isKey(value) && value !== '') return identityOf(value)
    if (value === undefined && skips(key)) return undefined
    if (typeof value === 'function') throw new TypeError(uncalled(key, value))
    const address = readAddress(subject)
    if (address === undefined && isMissing(key, value)) throw new NotRequestError(noKey(key, value))
    warnOfObject(key, value)
    return keylessIdentity(address)
  }
}

/** Says that a key function was called in place of the one that it makes. */
function uncalled({ name }: KeyFunction<never>, { name: made }: { readonly name: string }): string {
  const problem = `the key function ${name || '(anonymous)'} returned a function (${made || 'anonymous'})`
  return `headgate: ${problem}. Call that function in the options, such as key: byIp().`
}

/** Says that a subject that is not a request has no key. */
function noKey({ name }: KeyFunction<never>, value: undefined | null): string {
  const problem = `the key function ${name || '(anonymous)'} returned ${value} for a subject that is not a request`
  return `headgate: ${problem}. Return a string for each subject. To exempt some of them, set skip.`
}

const identityKeys = new WeakSet<KeyFunction<never>>()

/** Returns whether the results of a key function are stored as they are. */
function returnsIdentity<Subject>(
  key: KeyFunction<Subject>,
  { secret }: IdentityOptions,
): key is IdentityReader<Subject> {
  return identityKeys.has(key) || (addressUseOf(key)?.returnsAddress === true && secret === undefined)
}

/** Marks a key function whose results are identities already, made by `identifier`; returns it. */
export function markIdentities<K extends KeyFunction<never>>(key: K): K {
  identityKeys.add(key)
  return key
}

/** Emits a process warning, once, if a key function returned an object: probably a mistake in it. */
export function warnOfObject<Subject>(key: KeyFunction<Subject>, value: unknown): void {
  if (!isObject(value) || Array.isArray(value)) return
  warnOnce(
    'HEADGATE_OBJECT_AS_KEY',
    `headgate: the key function ${key.name || '(anonymous)'} returned an object, so the request counts by its IP ` +
      'address. Return a string, such as String(user.id).',
  )
}
