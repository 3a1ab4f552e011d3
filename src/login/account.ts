import { type ByFieldOptions, byField, fieldReader } from '../keys/by-field.js'
import { warnOfObject } from '../keys/identity.js'
import type { KeyFunction } from '../keys/key.js'
import { isName } from '../keys/name.js'
import { thenMaybe } from '../util/maybe-promise.js'
import { wrongOption } from '../util/validate.js'

/** Which account an attempt is for. Give `field`, and `normalize` with it, or `account`. */
export interface AccountOptions<Req> extends Pick<ByFieldOptions, 'normalize'> {
  /**
   * The POST field with the user name, as `byField` reads it. Device cookies are valid for the name as it
   * was typed.
   */
  field?: string
  /**
   * Names the account where it is in no field: `(req) => req.session.userId` where a one-time code is
   * checked. May be async. For `undefined` only the address is limited; any other value that cannot be a
   * name, such as `null` or a name with invisible characters, is answered 400. Names are compared as they
   * are: call `foldName` for a name that was typed. Device cookies are then valid for all spellings that
   * fold to one.
   */
  account?: KeyFunction<Req>
}

/** Reads the account from requests. */
export interface AccountReader<Req> {
  /** Returns a name, `null` for a malformed one, or `undefined` where the account is not limited. */
  readonly read: KeyFunction<Req>
  /** Returns the field as it was sent; `undefined` where it is missing or an `account` function reads it. */
  readonly fieldOf: (req: Req) => unknown
}

/** Returns how a guard reads accounts. Throws a `TypeError` for wrong options. */
export function accountReader(
  owner: string,
  { field, account, normalize }: { field: unknown; account: unknown; normalize: ByFieldOptions['normalize'] },
): AccountReader<never> {
  if (field !== undefined) {
    if (account !== undefined) throw new TypeError(`${owner}: give either field or account, not both.`)
    const read = byField(field as string, normalize && { normalize }) // checks the field's name
    return { read, fieldOf: fieldReader(field as string) }
  }
  if (normalize !== undefined)
    throw new TypeError(`${owner}: normalize goes with field. Normalize in the account function.`)
  const fix = "Write field: 'username'."
  if (typeof account === 'function')
    return { read: nameOrNull(account as KeyFunction), fieldOf: () => undefined }
  if (account !== undefined) throw wrongOption(owner, 'account', 'a function of the request', account, fix)
  throw wrongOption(owner, 'field', 'the name of the field with the user name', field, fix)
}

/** Returns an account function whose results are checked as `byField` checks a field. */
function nameOrNull(account: KeyFunction): KeyFunction {
  return (req) =>
    thenMaybe(account(req), (name) => {
      if (name === undefined || isName(name)) return name
      warnOfObject(account, name)
      return null
    })
}
