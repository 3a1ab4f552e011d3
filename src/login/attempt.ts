import { isKey } from '../keys/identity.js'
import type { KeyFunction } from '../keys/key.js'
import { isPromise, type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import type { AccountReader } from './account.js'
import type { Browser, DeviceCookie } from './device-cookie.js'
import type { ReportOutcome } from './outcome.js'

/** What a guard knows of an attempt. */
export interface Attempt {
  /** Returns the name, `null` for a malformed one, or `undefined` where the account is not limited. */
  account(): MaybePromise<unknown>
  /** Returns the browser that it comes from; `undefined` without device cookies or without a name. */
  browser(): MaybePromise<Browser | undefined>
  /** Set once the attempt was charged and allowed. */
  report?: ReportOutcome
}

/** The attempts in progress, and the keys that limits read from them. */
export interface Attempts<Req> {
  readonly account: KeyFunction<Req>
  /** Returns which known device of its account a request comes from, or `STRANGER`. */
  readonly device: KeyFunction<Req>
  /** Records that the guard has seen a request, which may be no attempt. */
  see(req: Req): void
  hasSeen(req: Req): boolean
  /**
   * Makes a request an attempt in progress, whose account and browser are read once: several limits need
   * them, an account function may query a database, and the handler may change the body.
   */
  begin(req: Req): void
  /** Returns the attempt in progress. Any other subject is read anew, since its body may change. */
  of(req: Req): Attempt
  /** Calls `run`, which must read its keys synchronously, with other values for the keys of this subject. */
  replaced<T>(req: Req, attempt: Attempt, run: () => T): T
}

/** What the device key of an unknown browser is. */
export const STRANGER = 'stranger'

/** Creates the record of a guard's attempts: one entry for each request, while the request lives. */
export function attemptRecord<Req extends object>(
  { read, fieldOf }: AccountReader<Req>,
  devices: DeviceCookie<Req> | undefined,
): Attempts<Req> {
  const attempts = new WeakMap<object, Attempt | undefined>()

  function readAttempt(req: Req): Attempt {
    const account = once(() => read(req))
    const browser = once(() =>
      thenMaybe(account(), (name) => {
        if (devices === undefined || !isKey(name)) return undefined
        return devices.recognize(req, { account: String(name), typed: String(fieldOf(req) ?? name) })
      }),
    )
    return { account, browser }
  }

  function of(req: Req): Attempt {
    return attempts.get(req) ?? readAttempt(req)
  }

  return {
    account: (req) => of(req).account(),
    device: (req) => thenMaybe(of(req).browser(), (browser) => browser?.device ?? STRANGER),
    see: (req) => attempts.set(req, attempts.get(req)),
    hasSeen: (req) => attempts.has(req),
    begin: (req) => attempts.set(req, of(req)),
    of,
    replaced(req, attempt, run) {
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

/** Returns a function that reads a value once. It returns the promise of it only until that is fulfilled. */
function once<T>(read: () => MaybePromise<T>): () => MaybePromise<T> {
  let known: { value: MaybePromise<T> } | undefined
  return () => {
    if (known === undefined) {
      const entry = { value: read() }
      known = entry
      const keep = (value: T) => Object.assign(entry, { value })
      if (isPromise(entry.value)) entry.value.then(keep, () => undefined) // the caller has the rejected promise
    }
    return known.value
  }
}
