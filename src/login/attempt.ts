import { isKey } from '../keys/identity.js'
import type { KeyValue } from '../keys/key.js'
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
export type Attempts<Req extends object> = ReturnType<typeof attemptRecord<Req>>

/** Creates the record of a guard's attempts: one entry for each request, while the request lives. */
export function attemptRecord<Req extends object>(
  { read, fieldOf }: AccountReader<Req>,
  recognize: RecognizeBrowser<Req> | undefined,
) {
  const attempts = new WeakMap<object, Attempt | undefined>()

  /** Returns the attempt of a request. Reads it anew unless it is in progress, since the body may change. */
  function of(req: Req): MaybePromise<Attempt> {
    return (
      attempts.get(req) ??
      thenMaybe(read(req), (name) => {
        if (recognize === undefined || !isKey(name)) return { name, device: STRANGER }
        const browser = recognize(req, String(name), String(fieldOf(req) ?? name))
        return thenMaybe(browser, (known) => ({ name, ...known }))
      })
    )
  }

  /** Returns the name of the account. */
  function account(req: Req): KeyValue {
    const attempt = attempts.get(req)
    return attempt === undefined ? read(req) : attempt.name
  }

  /**
   * Makes a request an attempt in progress, whose account and browser are read once: several limits need
   * them, an account function may query a database, and the handler may change the body.
   */
  function begin(req: Req): MaybePromise<Attempt> {
    return thenMaybe(of(req), (attempt) => {
      attempts.set(req, attempt)
      return attempt
    })
  }

  /** Calls `run`, which must read its keys synchronously, with other values for the keys of this subject. */
  function runAs<T>(req: Req, attempt: Attempt, run: () => T): T {
    const current = attempts.get(req)
    attempts.set(req, attempt)
    try {
      return run()
    } finally {
      attempts.set(req, current)
    }
  }

  return { get: (req: Req) => attempts.get(req), of, account, begin, runAs }
}
