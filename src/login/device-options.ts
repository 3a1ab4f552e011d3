import type { IncomingMessage } from 'node:http'
import { readSecret } from '../limiter/read-options.js'
import { callback, readOptions, type Settings, withDefault } from '../options/option-table.js'
import { type Duration, durationMs } from '../util/durations.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import { show } from '../util/validate.js'

/** Options that recognize browsers that have logged in before. */
export interface DeviceCookieOptions<Req = IncomingMessage> {
  /**
   * The secret that signs the cookies, or several of them. At least 16 characters. The first one signs and
   * all verify. To rotate secrets, put the new one first, and remove the old one when `lasts` has passed. If
   * you remove a secret earlier, its browsers count as strangers until they log in again.
   */
  secret: string | readonly string[]
  /**
   * Returns a value whose change ends all older cookies of an account:
   * `(account) => users.get(account)?.passwordChangedAt`. May be async. If it throws, the error goes to
   * `next`.
   *
   * It receives the name as the guard folds it, as `onLockout` does. It is called once for each attempt,
   * before the charge, and also for attempts that are denied. So keep it cheap. For a name without an
   * account, it must return `undefined` and take as long.
   */
  epoch?: (account: string, req: Req) => MaybePromise<DeviceEpoch>
  /** How long a device is known after its last login. Default 90 days. */
  lasts?: Duration
}

/**
 * A value that changes when an account's device cookies should end. `null` and `undefined` are equal, and so
 * are a date and its milliseconds.
 */
export type DeviceEpoch = string | number | bigint | Date | null | undefined

const OPTIONS = {
  rows: {
    secret: readSecrets,
    epoch: callback<(account: string, req: unknown) => MaybePromise<DeviceEpoch>>,
    lasts: withDefault('90d', durationMs),
  },
  fixes: { maxAge: 'lasts', expires: 'lasts', name: 'Move name out of deviceCookie.' },
}

/** The options of device cookies, read and checked: all secrets, and `lasts` in milliseconds. */
export type DeviceSettings = Settings<typeof OPTIONS.rows>

/** Reads and checks the options of device cookies. Throws a `TypeError` that never shows a secret. */
export function readDeviceCookie(owner: string, option: string, options: unknown): DeviceSettings {
  return readOptions(`${owner}: ${option}`, options, OPTIONS)
}

function readSecrets(owner: string, option: string, value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) && value.length > 0 ? Array.from(value) : [value]
  return list.map((secret) => readSecret(owner, option, secret))
}

/** Returns whether a value is a `Date`, even from another realm, as in some test runners. */
function isDate(value: unknown): value is Date {
  return Object.prototype.toString.call(value) === '[object Date]'
}

/** Returns the text of an epoch that is signed. Throws a `TypeError` for what cannot be one. */
export function epochText(value: unknown): string {
  const plain = isDate(value) ? Number(value) : (value ?? '')
  if (typeof plain === 'string' || typeof plain === 'bigint' || Number.isFinite(plain)) return String(plain)
  const must = 'a string, a finite number, a bigint, a valid Date or undefined'
  throw new TypeError(`loginGuard: deviceCookie: epoch must return ${must}, got ${show(plain)}.`)
}
