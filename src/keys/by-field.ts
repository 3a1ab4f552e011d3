import { callback, readOptions, withDefault } from '../options/option-table.js'
import { choice, wrongOption } from '../util/validate.js'
import { fieldsOf, isObject } from '../util/values.js'
import { warnOnce } from '../util/warn-once.js'
import type { KeyFunction } from './key-types.js'
import { fold, isName, normalizeName } from './name.js'
import { asRequest, headerOf, requestOf } from './request.js'
import { markClientChosen, markSkipping } from './skipping.js'

/** Options of `byField`: how a field becomes an identity. */
export interface ByFieldOptions {
  /**
   * Returns the one spelling that stands for all spellings of a name. Default: as `foldName`.
   *
   * The application must compare names in the same way, for the reason given at `foldName`. Names with
   * invisible characters (`\p{C}`) never get here, and a result that holds any is malformed.
   */
  normalize?: (value: string) => string
  /**
   * How to limit a request without the field. Default `'address'`.
   *
   * - `'address'`: as malformed input of its source address, so leaving the field out bypasses no limit.
   * - `'skip'`: not by this limit.
   */
  missing?: 'address' | 'skip'
}

const OPTIONS = {
  rows: {
    normalize: callback<(value: string) => string>,
    missing: withDefault('address', choice('address', 'skip')),
  },
}

/**
 * Creates a key that identifies a client by a field of the parsed body, such as the user name in a login
 * form. `'user.name'` and `'user[name]'` read a nested field, or a flat one that has either as its name. Names
 * of more parts, such as `'form.user[name]'`, work alike.
 *
 * Only strings and finite numbers are keys. All other values are limited as malformed input, per source
 * address: arrays, objects, booleans, inherited properties, an empty string, and more than 1024 characters.
 * So are names with invisible characters (control, format, private-use, surrogate or unassigned: `\p{C}`),
 * which databases often ignore.
 *
 * Mount a body parser first. The process warning `HEADGATE_NO_BODY` reports once if a body was never parsed.
 *
 * @example
 * ```ts
 * import { byField, byIp, rateLimit } from 'headgate'
 *
 * // At most 3 password resets an hour for an email address, and 20 for an IP address.
 * const email = { name: 'email', limit: 3, window: '1h', key: byField('email') }
 * const address = { name: 'address', limit: 20, window: '1h', key: byIp() }
 * const resets = rateLimit({ limits: [email, address] })
 * ```
 */
export function byField(name: string, options: ByFieldOptions = {}): KeyFunction<unknown> {
  if (typeof name !== 'string' || name === '') {
    const fix = "Did you mean byField('username')?"
    throw wrongOption('byField', 'name', 'the name of a body field', name, fix)
  }
  const { normalize, missing } = readOptions('byField', options, OPTIONS)
  const readField = fieldReader(name)
  const readName = nameReader(name, normalize)

  function fieldKey(subject: unknown): unknown {
    if (requestOf('byField', subject).body === undefined) warnIfUnparsed(subject, name)
    return missing === 'skip' && readField(subject) === undefined ? undefined : readName(subject)
  }

  return markClientChosen(missing === 'skip' ? markSkipping(fieldKey) : fieldKey)
}

/** Creates a function that returns the name in a field of the body; `null` if it is missing or malformed. */
export function nameReader(field: string, normalize: (value: string) => string = fold) {
  const readField = fieldReader(field)
  return (subject: unknown): string | number | null => {
    const value = readField(subject)
    if (typeof value === 'string') return normalizeName(value, normalize) ?? null
    return typeof value === 'number' && isName(value) ? value : null
  }
}

/**
 * Creates a function that returns a field of the body as it came; `undefined` if it is missing.
 *
 * Parsers keep a form's `user[name]` or `user.name` as one name, or turn all or some of it into nested fields.
 * All of these are read. If a body has several with different values, the result is an array, which is never a
 * name. Otherwise, a client could make the limiter count a different name from the one that the application
 * reads.
 */
export function fieldReader(name: string): (subject: unknown) => unknown {
  const steps = stepsTo(name)
  if (steps.length < 2) return (subject) => bodyField(asRequest(subject).body, name)

  function addFound(found: Set<unknown>, from: number, read: (spelling: string) => unknown): void {
    for (const { spelling, next } of steps[from] ?? []) {
      const value = read(spelling)
      if (value === undefined) continue
      if (next === steps.length) found.add(value)
      else addFound(found, next, (each) => ownProperty(value, each))
    }
  }

  return (subject) => {
    const { body } = asRequest(subject)
    const found = new Set<unknown>()
    addFound(found, 0, (spelling) => bodyField(body, spelling))
    return found.size > 1 ? [...found] : [...found][0]
  }
}

/** A name for consecutive parts of a nested field, and the index of the part that follows. */
interface Step {
  readonly spelling: string
  readonly next: number
}

/** Returns for each part of a name, such as `a.b[c]`, the names that fields may have from there on. */
function stepsTo(name: string): readonly (readonly Step[])[] {
  const parts = [...name.matchAll(/(\[?)([^.[\]]+)/g)].map(([, bracket, part = '']) => ({
    part,
    dotted: `.${part}`,
    bracketed: `[${part}]`,
    written: bracket ? `[${part}]` : `.${part}`,
  }))
  return parts.map(({ part }, from) =>
    parts.slice(from).flatMap((_, i) => {
      const following = parts.slice(from + 1, from + i + 1)
      const spellings = (['dotted', 'bracketed', 'written'] as const).map(
        (how) => part + following.map((each) => each[how]).join(''),
      )
      const next = from + i + 1
      if (from === 0 && next === parts.length) spellings.push(name)
      return [...new Set(spellings)].map((spelling) => ({ spelling, next }))
    }),
  )
}

/**
 * Returns a field of a body. @fastify/multipart wraps each field in an object that refers to the body. Parsed
 * JSON never does.
 */
function bodyField(body: unknown, name: string): unknown {
  const field = ownProperty(body, name)
  const { type, fields, value } = fieldsOf(field)
  return type === 'field' && fields === body ? value : field
}

function ownProperty(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/** The types that the usual parsers parse; a body of another type stays unparsed beside a parser. */
const PARSED_TYPES = /json|x-www-form-urlencoded|multipart/i

function warnIfUnparsed(subject: unknown, name: string): void {
  const length = headerOf(subject, 'content-length') ?? headerOf(subject, 'transfer-encoding') ?? '0'
  if (length === '0' || !PARSED_TYPES.test(headerOf(subject, 'content-type') ?? '')) return
  warnOnce(
    'HEADGATE_NO_BODY',
    `headgate: byField('${name}') found no parsed body, so the name is unknown. Mount a body parser before ` +
      "the limiter, such as express.json(). In Fastify, write hook: 'preValidation'. In Hono, mount a " +
      'validator first.',
  )
}
