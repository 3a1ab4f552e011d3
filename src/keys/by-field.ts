import { callback, readOptions, withDefault } from '../options/option-table.js'
import { choice, wrongOption } from '../util/validate.js'
import { isObject } from '../util/values.js'
import { warnOnce } from '../util/warn-once.js'
import type { KeyFunction } from './key.js'
import { fold, isName, normalizeName } from './name.js'
import { asRequest, headerOf, requestOf } from './request.js'
import { markSkipping } from './watch-key.js'

/** How a field becomes an identity. */
export interface ByFieldOptions {
  /**
   * Returns the one spelling that stands for all spellings of a name. Default: as `foldName`.
   *
   * The application must compare names in the same way: `foldName` says why. Names with invisible characters
   * (`\p{C}`) never get here, and a result that holds any is malformed.
   */
  normalize?: (value: string) => string
  /**
   * How a request without the field is limited. `'address'`: with the malformed input of its source address,
   * so that leaving the field out bypasses no limit. `'skip'`: not by this limit. Default `'address'`.
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
 * Identifies a client by a field of the parsed body, such as the user name of a login form; `'user.name'`
 * reads a nested one. Only strings and finite numbers are a key. Everything else (arrays, objects,
 * booleans, inherited properties, an empty string, more than 1024 characters) is limited as malformed
 * input, per source address; so are names with invisible characters (control, format, private-use,
 * surrogate or unassigned: `\p{C}`), which databases often ignore.
 *
 * A body parser must run first; a body that was never parsed is reported once, as the process warning
 * `HEADGATE_NO_BODY`.
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

  return missing === 'skip' ? markSkipping(fieldKey) : fieldKey
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

/** Creates a function that returns a field of the body as it came; `undefined` if it is missing. */
export function fieldReader(name: string): (subject: unknown) => unknown {
  const path = name.split('.')
  return (subject) => path.reduce(ownProperty, asRequest(subject).body)
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
