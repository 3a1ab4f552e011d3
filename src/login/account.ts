import { type ByFieldOptions, fieldReader, nameReader } from '../keys/by-field.js'
import { warnOfObject } from '../keys/identity.js'
import type { KeyFunction } from '../keys/key-types.js'
import { isName } from '../keys/name.js'
import { callback, optional, type Settings } from '../options/option-table.js'
import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { wrongOption } from '../util/validate.js'
import { isFunction } from '../util/values.js'
import { hasSafeMethod } from './place.js'

/**
 * Options that say which account an attempt is for. Pass `field`, and `normalize` with it, or pass
 * `account`.
 */
export interface AccountOptions<Req> extends Pick<ByFieldOptions, 'normalize'> {
  /**
   * The field of the body with the user name, as `byField` reads it. Device cookies are valid for the name
   * as it was typed.
   */
  field?: string
  /**
   * Returns the account's name if no field has it, such as `(req) => req.session.userId` for a one-time
   * code. May be async.
   *
   * - If it returns `undefined`, only the address is limited, and a request with a safe method passes.
   * - If it returns anything else that cannot be a name, such as `null` or a name with invisible characters,
   *   the response is a 400. If the method is safe, only the address is limited.
   * - Names are compared as they are, so call `foldName` for a name that was typed. Device cookies are then
   *   valid for all spellings that fold to one.
   */
  account?: KeyFunction<Req>
}

export interface AccountReader<Req> {
  /** Returns a name, `null` for a malformed one, or `undefined` if the account is not limited. */
  readonly read: KeyFunction<Req>
  /** Returns the field as it was sent; `undefined` if it is missing or an `account` function reads it. */
  readonly fieldOf: (req: Req) => unknown
  /** Returns whether a request names no account at all, as one that only fetches the form. */
  readonly isMissing: (req: Req) => MaybePromise<boolean>
}

export const ACCOUNT_ROWS = {
  field: optional(readField),
  account: optional(readAccount),
  normalize: callback<(value: string) => string>,
}

/** Returns how a guard reads accounts. Throws a `TypeError` unless one of `field` and `account` is given. */
export function accountReader(
  owner: string,
  { field, account, normalize }: Settings<typeof ACCOUNT_ROWS>,
): AccountReader<unknown> {
  if (field !== undefined && account !== undefined)
    throw new TypeError(`${owner}: give either field or account, not both. Leave one of them out.`)
  if (field === undefined && normalize !== undefined)
    throw new TypeError(
      `${owner}: normalize applies only with field. Normalize the name in the account function.`,
    )
  if (account !== undefined) {
    const isMissing = (req: unknown) => thenMaybe(account(req), (name) => name === undefined)
    return { read: nameOrNull(account), fieldOf: () => undefined, isMissing }
  }
  const name = readField(owner, 'field', field)
  const fieldOf = fieldReader(name)
  const isMissing = (req: unknown) => fieldOf(req) === undefined
  return { read: nameReader(name, normalize), fieldOf, isMissing }
}

const FIX = "Write field: 'username'."

function readField(owner: string, option: string, field: unknown): string {
  if (typeof field === 'string' && field !== '') return field
  throw wrongOption(owner, option, 'the name of the field that holds the user name', field, FIX)
}

function readAccount(owner: string, option: string, account: unknown): KeyFunction<unknown> {
  if (isFunction(account)) return account
  throw wrongOption(owner, option, 'a function of the request', account, FIX)
}

/**
 * Returns an account function whose results are checked as `byField` checks a field. A request
 * with a safe method, such as one for the form, may lack a name on purpose: it must not get a 400.
 */
function nameOrNull(account: KeyFunction<unknown>): KeyFunction<unknown> {
  return (req) =>
    thenMaybe(account(req), (name) => {
      if (name === undefined || isName(name)) return name
      warnOfObject(account, name)
      return hasSafeMethod(req) ? undefined : null
    })
}
