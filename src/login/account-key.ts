import type { IncomingMessage } from 'node:http'
import { optionalFunction, wrongOption } from '../checks.js'
import { byField, fieldReader } from '../keys/by-field.js'
import { isKey } from '../keys/identity.js'
import type { KeyFunction } from '../keys/key.js'
import { isPromise } from '../maybe-promise.js'

/** Which account an attempt is for. Give one of the two. */
export interface AccountOptions<Req> {
  /** The POST field with the user name, as `byField` reads it. */
  field?: string
  /** Names the account where it is in no field: `(req) => req.session.userId` where a one-time code is checked. May be async. */
  account?: KeyFunction<Req>
  /** Makes spellings of one name alike, where `field` is given. Default: as `byField`. Must match how the application compares names. */
  normalize?: (value: string) => string
}

/** How accounts are read from requests. */
export interface AccountReader<Req> {
  readonly key: KeyFunction<Req>
  /** Whether a request that must hold a name holds none, or what can be none: an array, an object, control characters, too many of any. */
  isMalformed(req: Req): boolean
  /** Whether there is such a field at all. */
  hasField(req: Req): boolean
}

/** Reads and checks how a guard learns the account. */
export function accountReader<Req extends IncomingMessage>(
  owner: string,
  { field, account, normalize }: AccountOptions<Req>,
): AccountReader<Req> {
  optionalFunction(owner, 'normalize', normalize)
  if (field === undefined) {
    if (normalize !== undefined)
      throw new TypeError(`${owner}: normalize goes with field. Normalize in the account function.`)
    if (typeof account === 'function') {
      return { key: oncePerRequest(account), isMalformed: () => false, hasField: () => false }
    }
    const mend = "Write field: 'username'."
    if (account === undefined)
      throw wrongOption(owner, 'field', 'the name of the field with the user name', field, mend)
    throw wrongOption(owner, 'account', 'a function of the request', account, mend)
  }
  if (account !== undefined) throw new TypeError(`${owner}: give either field or account, not both.`)
  const key = oncePerRequest(byField(field, normalize === undefined ? {} : { normalize }) as KeyFunction<Req>)
  const found = fieldReader(field)
  return {
    key,
    isMalformed: (req) => !isName(key(req)),
    hasField: (req) => found(req) !== undefined,
  }
}

/** A name with control characters is nobody's, and one without them to databases whose collation passes over them. An empty one is nobody's. */
function isName(value: unknown): boolean {
  return isKey(value) && value !== '' && !/\p{Cc}/u.test(String(value))
}

/** Reads the account once, though several limits ask for it: it may cost a look into a database. */
function oncePerRequest<Req>(read: KeyFunction<Req>): KeyFunction<Req> {
  const known = new WeakMap<object, unknown>()
  return function account(req: Req): unknown {
    if (typeof req !== 'object' || req === null) return read(req)
    if (known.has(req)) return known.get(req)
    const value = read(req)
    if (isPromise(value)) {
      known.set(req, value)
      value.then((name) => known.set(req, name)).then(undefined, () => undefined)
    } else if (isKey(value)) known.set(req, value) // a body may be parsed later
    return value
  }
}
