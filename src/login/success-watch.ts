import { asRequest, headerOf } from '../keys/request.js'
import { hmacSha256, randomText } from '../platform.js'
import { show } from '../util/validate.js'
import { fieldsOf } from '../util/values.js'
import { warnOnce } from '../util/warn-once.js'

/** The most accounts that are watched at once. */
const MAX_ACCOUNTS = 1000
/** How long an account is watched: an hour. */
const WATCH_MS = 3_600_000
/** No real user has so many different passwords in an hour, or so many addresses of logins without one. */
const TOO_MANY = 10

/**
 * Names of fields with a password, in some languages. A field is not watched for its values alone: those of
 * CSRF tokens, codes and passkeys also differ at each login.
 */
const PASSWORD = new RegExp(
  [
    'pass(?!code|key)|pwd|^pw[0-9]*$|pw$|^pin$|^secret$|mdp|kennwort|wachtwoord|clave|contrase|senha|parol|пароль',
    'has[lł]o$|heslo|jelsz|l[oö]senord|adgangskode|kodeord|salasana|lozinka|[sş]ifre|密码|密碼|パスワード|비밀번호',
  ].join('|'),
  'i',
)

/** What succeeded at an account since a time: hashes under a secret of this process. */
interface Watched {
  readonly sinceMs: number
  readonly passwords: Set<string>
  /** The addresses of logins in which no password was found. */
  readonly addresses: Set<string>
}

/** Watches the successes of a guard. */
export interface SuccessWatch {
  recordSuccess(req: unknown, account: string, address: unknown): void
  /**
   * Records that the application rejects passwords, so that logins from many addresses are those of users.
   */
  recordRejection(): void
}

/**
 * Creates a watch on an application whose failures may look like successes, so that its guard limits nothing.
 * It warns once if, within an hour, an account succeeds with many passwords, or from many addresses without a
 * password that the watch can find.
 */
export function successWatch(guard: string, now: () => number = Date.now): SuccessWatch {
  let keyedHash: ((text: string) => string) | undefined
  const accounts = new Map<string, Watched>()
  let isOver = false
  let hasRejected = false

  /** The secret is drawn at the first login, because Workers have no random numbers while modules load. */
  function hash(text: string): string {
    keyedHash ??= hmacSha256(randomText(16))
    return keyedHash(text)
  }

  function watchOf(account: string): Watched {
    const current = accounts.get(account)
    if (current !== undefined && now() - current.sinceMs < WATCH_MS) return current
    accounts.delete(account)
    const [oldest] = accounts.keys()
    if (accounts.size >= MAX_ACCOUNTS && oldest !== undefined) accounts.delete(oldest)
    const fresh: Watched = { sinceMs: now(), passwords: new Set(), addresses: new Set() }
    accounts.set(account, fresh)
    return fresh
  }

  function warn(what: string): void {
    isOver = true
    accounts.clear()
    warnOnce(
      'HEADGATE_LOGIN_SUCCESSES',
      `headgate: loginGuard ${show(guard)} counted ${what} as successes within an hour, which cleared its ` +
        'failures. Does your application respond with 200 to a wrong password, or without checking one? ' +
        'Respond with 401, call guard.reportFailure(req), or exempt the request with skip.',
      guard,
    )
  }

  return {
    recordSuccess(req, account, address) {
      if (isOver) return
      const password = passwordOf(req)
      const isCounted = password !== undefined || (!hasRejected && typeof address === 'string')
      if (!isCounted) return
      const { passwords, addresses } = watchOf(account)
      if (password !== undefined) passwords.add(hash(password))
      else addresses.add(hash(String(address)))
      if (passwords.size >= TOO_MANY) warn(`${TOO_MANY} different passwords of one account`)
      else if (addresses.size >= TOO_MANY) warn(`logins of one account from ${TOO_MANY} IP addresses`)
    },
    recordRejection() {
      hasRejected = true
    },
  }
}

/**
 * Returns the password of an attempt, in its body or by Basic authentication; `undefined` if none is known.
 */
function passwordOf(req: unknown): string | undefined {
  const values = Object.entries(fieldsOf(asRequest(req).body))
    .filter(([name, value]) => typeof value === 'string' && PASSWORD.test(name))
    .map(([, value]) => value)
  if (values.length > 0) return values.join('\0') // such as a client's secret before the password
  const authorization = headerOf(req, 'authorization')
  return authorization?.startsWith('Basic ') ? authorization : undefined
}
