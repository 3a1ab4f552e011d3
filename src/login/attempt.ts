import { isKey } from '../keys/identity.js'
import type { KeyFunction } from '../keys/key.js'
import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import type { AccountReader } from './account.js'
import { type Browser, type RecognizeBrowser, STRANGER } from './device-cookie.js'
import type { ReportOutcome } from './outcome.js'

/** What a guard knows of an attempt. */
export interface Attempt extends Browser {
  /** The account's name, `null` for a malformed one, or `undefined` where the account is not limited. */
  readonly name: unknown
  /** Set once the attempt was charged and allowed. */
  report?: ReportOutcome
}

/** The attempts in progress, and the keys that limits read from them. */
export interface Attempts<Req> {
  /** Returns the name of the account. */
  readonly account: KeyFunction<Req>
  /** Returns which known device of its account a request comes from, or `STRANGER`. */
  readonly device: KeyFunction<Req>
  /**
   * Makes a request an attempt in progress, whose account and browser are read once: several limits need
   * them, an account function may query a database, and the handler may change the body.
   */
  begin(req: Req): MaybePromise<Attempt>
  /** Returns the attempt in progress. Any other subject is read anew, since its body may change. */
  get(req: Req): Attempt | undefined
  /** Calls `run`, which must read its keys synchronously, with other values for the keys of this subject. */
  runAs<T>(req: Req, attempt: Attempt, run: () => T): T
}

/** Creates the record of a guard's attempts: one entry for each request, while the request lives. */
export function attemptRecord<Req extends object>(
  { read, fieldOf }: AccountReader<Req>,
  recognize: RecognizeBrowser<Req> | undefined,
): Attempts<Req> {
  const attempts = new WeakMap<object, Attempt | undefined>()

  function account(req: Req): unknown {
    const attempt = attempts.get(req)
    return attempt === undefined ? read(req) : attempt.name
  }

  function readAttempt(req: Req): MaybePromise<Attempt> {
    return thenMaybe(read(req), (name) => {
      if (recognize === undefined || !isKey(name)) return { name, device: STRANGER }
      const browser = recognize(req, String(name), String(fieldOf(req) ?? name))
      return thenMaybe(browser, (known) => ({ name, ...known }))
    })
  }

  return {
    account,
    device: (req) => thenMaybe(attempts.get(req) ?? readAttempt(req), ({ device }) => device),
    begin: (req) =>
      thenMaybe(readAttempt(req), (attempt) => {
        attempts.set(req, attempt)
        return attempt
      }),
    get: (req) => attempts.get(req),
    runAs(req, attempt, run) {
      const current = attempts.get(req)
      attempts.set(req, attempt)
      try {
        return run()
      } finally {
        attempts.set(req, current)
      }
    },
  }
}
