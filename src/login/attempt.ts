import { identifier, identityReader, markIdentities } from '../keys/identity.js'
import type { KeyFunction } from '../keys/key-types.js'
import { isNotRequestError } from '../keys/request.js'
import { markClientChosen } from '../keys/skipping.js'
import {
  addressReader,
  addressUseOf,
  expressReader,
  markAddressUse,
  requestIdentity,
} from '../keys/source-address.js'
import { isKey, valueHash } from '../keys/value-identity.js'
import { catchMaybe, type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { type Browser, STRANGER } from './device-cookie.js'
import type { LoginSettings } from './options.js'
import type { Ending } from './outcome.js'

/**
 * What a guard knows of an attempt. Must not refer to the request or the response: V8 keeps the values of a
 * `WeakMap`, and whatever they refer to, until it collects the old generation.
 */
export interface Attempt extends Browser {
  /** The account's name, `null` for a malformed one, or `undefined` if the account is not limited. */
  readonly name: unknown
  /** The identities of the account, the address and the browser in keys, once a limit has read them. */
  account?: string | undefined
  address?: MaybePromise<string | undefined>
  browser?: string
  ending?: Ending
}

/** The attempts in progress, and the keys that limits read from them. */
export type Attempts<Req extends object> = ReturnType<typeof attemptRecord<Req>>

type AttemptSettings<Req extends object> = Pick<
  LoginSettings<Req, never>,
  'account' | 'address' | 'cookies' | 'secret'
>

/** Creates the record of a guard's attempts: one entry for each request, while the request lives. */
export function attemptRecord<Req extends object>({
  account,
  address,
  cookies,
  secret,
}: AttemptSettings<Req>) {
  const attempts = new WeakMap<object, Attempt | undefined>()
  const { read, fieldOf } = account
  const use = addressUseOf(address)
  const readSource = requestIdentity(use?.read ?? addressReader(expressReader()))
  const identifyAccount = identifier(markClientChosen(read), { readAddress: readSource, secret })
  const identifyAddress = identityReader([address], { readAddress: readSource, secret })
  const hashDevice = valueHash(secret)

  /** Returns the attempt of a request. Reads it anew unless it is in progress, since the body may change. */
  function of(req: object): MaybePromise<Attempt> {
    return (
      attempts.get(req) ??
      thenMaybe(read(req), (name) => {
        if (cookies === undefined || !isKey(name)) return { name, device: STRANGER }
        const browser = cookies.recognize(req, String(name), String(fieldOf(req) ?? name))
        return thenMaybe(browser, (recognized) => ({ name, ...recognized }))
      })
    )
  }

  function name(req: object): MaybePromise<unknown> {
    const attempt = attempts.get(req)
    return attempt === undefined ? read(req) : attempt.name
  }

  /** Returns the identity of an attempt's account; `undefined` if the account is not limited. */
  function accountOf(attempt: Attempt, req: Req): string | undefined {
    if (attempt.name !== undefined) attempt.account ??= identifyAccount(attempt.name, req)
    return attempt.account
  }

  function addressOf(attempt: Attempt, req: Req): MaybePromise<string | undefined> {
    attempt.address ??= readAddress(req)
    return attempt.address
  }

  /** Returns the identity of an address; `undefined` for `{ body }`, which names an account to forget. */
  function readAddress(req: Req): MaybePromise<string | undefined> {
    return catchMaybe(
      () => identifyAddress(req),
      (error) => {
        if (isNotRequestError(error)) return undefined
        throw error
      },
    )
  }

  function browserOf(attempt: Attempt): string {
    attempt.browser ??= attempt.device === STRANGER ? STRANGER : hashDevice(attempt.device)
    return attempt.browser
  }

  function keyOf(read: (attempt: Attempt, req: Req) => MaybePromise<string | undefined>): KeyFunction<Req> {
    return markKey((req) => thenMaybe(of(req), (attempt) => read(attempt, req)))
  }

  /** The key of addresses alone, which needs no account. */
  const addressKey = markKey((req) => {
    const attempt = attempts.get(req)
    return attempt === undefined ? readAddress(req) : addressOf(attempt, req)
  })

  function markKey(key: KeyFunction<Req>): KeyFunction<Req> {
    return markIdentities(markAddressUse(key, use && { ...use, returnsAddress: false }))
  }

  /**
   * Makes a request an attempt in progress, whose account, address and browser are read once: several limits
   * need them, an account function may query a database, and the handler may change the body.
   */
  function begin(req: Req): MaybePromise<Attempt> {
    return thenMaybe(of(req), (attempt) => {
      attempts.set(req, attempt)
      return attempt
    })
  }

  /** Calls `run`, which must read its keys synchronously, with other values for the keys of this subject. */
  function runAs<T>(req: object, attempt: Attempt, run: () => T): T {
    const current = attempts.get(req)
    attempts.set(req, attempt)
    try {
      return run()
    } finally {
      attempts.set(req, current)
    }
  }

  const get = (req: Req) => attempts.get(req)
  return { get, name, accountOf, addressOf, browserOf, keyOf, addressKey, begin, runAs }
}
