import type { IncomingMessage } from 'node:http'
import { byField, fieldReader } from '../keys/by-field.js'
import { warnOfObject } from '../keys/identity.js'
import type { KeyFunction } from '../keys/key.js'
import { isName } from '../keys/name.js'
import { isPromise, type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { optionalFunction, wrongOption } from '../util/validate.js'

/** Which account an attempt is for. Give one of the two. */
export interface AccountOptions<Req> {
  /** The POST field with the user name, as `byField` reads it. */
  field?: string
  /**
   * Names the account where it is in no field: `(req) => req.session.userId` where a one-time code is
   * checked. May be async. For `undefined` only the address is limited; anything else that can be no name,
   * such as `null` or a name with invisible characters, is answered 400. Names are compared as they are:
   * call `foldName` for a name that was typed. Device cookies are then good for all spellings that fold to
   * one.
   */
  account?: KeyFunction<Req>
  /**
   * Returns the one spelling that stands for all spellings of a name, where `field` is given. Default: as
   * `foldName`.
   *
   * The application must compare names in the same way. If it tells apart what this takes as one (`"Ada"`
   * and `"ada"`), the owner of one account clears the failures of the other. If it takes as one what this
   * tells apart, as a database with a collation that ignores accents does, each spelling has guesses of its
   * own.
   */
  normalize?: (value: string) => string
}

/** How accounts are read from requests. */
export interface AccountReader<Req> extends AccountMemo<Req> {
  /**
   * Whether a request that must hold a name holds none, or what can be none: an array, an object, invisible
   * characters.
   */
  isMalformed(req: Req): MaybePromise<boolean>
  /**
   * Returns the name as the field holds it, before it is folded; `undefined` where an `account` function
   * reads it.
   */
  nameAsTyped(req: Req): string | undefined
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
      return readerOf(nameOrNull(account), () => undefined)
    }
    const mend = "Write field: 'username'."
    if (account === undefined)
      throw wrongOption(owner, 'field', 'the name of the field with the user name', field, mend)
    throw wrongOption(owner, 'account', 'a function of the request', account, mend)
  }
  if (account !== undefined) throw new TypeError(`${owner}: give either field or account, not both.`)
  const key = byField(field, normalize === undefined ? {} : { normalize }) as KeyFunction<Req>
  return readerOf(key, fieldReader(field))
}

function readerOf<Req extends object>(
  read: KeyFunction<Req>,
  fieldOf: (req: Req) => unknown,
): AccountReader<Req> {
  const memo = accountMemo(read)
  return {
    ...memo,
    isMalformed: (req) => thenMaybe(memo.key(req), (name) => name === null),
    nameAsTyped(req) {
      const field = fieldOf(req)
      return field === undefined ? undefined : String(field)
    },
    hasField: (req) => fieldOf(req) !== undefined,
  }
}

/** Checks what an account function returns as `byField` checks a field. */
function nameOrNull<Req>(account: KeyFunction<Req>): KeyFunction<Req> {
  return (req) =>
    thenMaybe(account(req), (name) => {
      if (name === undefined || isName(name)) return name
      warnOfObject(account, name)
      return null
    })
}

/**
 * Reads accounts. That of an attempt is read once, since several limits need it, and an account function may
 * query a database; any other subject is read anew on each call, since its body may change.
 */
interface AccountMemo<Req> {
  /**
   * Returns a name, `null` for what can be none, or `undefined` where the account is not limited. Of an
   * attempt in progress that is what was charged, whatever its body holds since.
   */
  readonly key: KeyFunction<Req>
  /** Makes a request an attempt in progress. */
  begin(req: Req): void
  isAttempt(req: Req): boolean
}

function accountMemo<Req extends object>(read: KeyFunction<Req>): AccountMemo<Req> {
  const memos = new WeakMap<object, { name?: unknown }>()

  return {
    key: function account(req: Req): unknown {
      const memo = memos.get(req)
      if (memo === undefined) return read(req)
      if ('name' in memo) return memo.name
      const name = read(req)
      memo.name = name
      if (isPromise(name)) {
        name.then(
          (known) => {
            memo.name = known
          },
          () => undefined, // whoever reads the account gets the rejected promise
        )
      }
      return name
    },
    begin(req) {
      if (!memos.has(req)) memos.set(req, {})
    },
    isAttempt: (req) => memos.has(req),
  }
}
