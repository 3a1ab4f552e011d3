import { randomBytes } from 'node:crypto'
import { asRequest, headerOf } from '../keys/request.js'
import { keyedHash } from '../keys/value-identity.js'
import { show } from '../util/validate.js'
import { fieldsOf } from '../util/values.js'
import { warnOnce } from '../util/warn-once.js'

/** The most accounts that are watched at once. */
const MAX_ACCOUNTS = 1000
/** How long an account is watched: an hour. */
const WATCH_MS = 3_600_000
/** So many different passwords, or logins after failures, in an hour are not those of a real user. */
const TOO_MANY = 10
/** The fewest failures that make the next login one after failures. */
const SOME_FAILURES = 3

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

/** What an account has done since a time. */
interface Watched {
  readonly sinceMs: number
  /** Hashes of the passwords that succeeded, under a secret of this process. */
  readonly passwords: Set<string>
  recoveries: number
}

/** Watches the successes of a guard. */
export type SuccessWatch = (req: unknown, account: string, failures: number) => void

/**
 * Creates a watch on an application whose failures may look like successes, so that its guard limits nothing.
 * It warns once, if an account succeeds within an hour with many passwords, or many times after failures.
 */
export function successWatch(guard: string, now: () => number = Date.now): SuccessWatch {
  const hash = keyedHash(randomBytes(16).toString('hex'))
  const accounts = new Map<string, Watched>()
  let isOver = false

  function watchOf(account: string): Watched {
    const current = accounts.get(account)
    if (current !== undefined && now() - current.sinceMs < WATCH_MS) return current
    accounts.delete(account)
    const [oldest] = accounts.keys()
    if (accounts.size >= MAX_ACCOUNTS && oldest !== undefined) accounts.delete(oldest)
    const fresh: Watched = { sinceMs: now(), passwords: new Set(), recoveries: 0 }
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

  return (req, account, failures) => {
    if (isOver) return
    const password = passwordOf(req)
    if (password === undefined && failures < SOME_FAILURES) return
    const watched = watchOf(account)
    if (password !== undefined) watched.passwords.add(hash(password))
    if (failures >= SOME_FAILURES) watched.recoveries++
    if (watched.passwords.size >= TOO_MANY) warn(`${TOO_MANY} different passwords of one account`)
    else if (watched.recoveries >= TOO_MANY) warn(`${TOO_MANY} logins of one account after failures`)
  }
}

/** Returns the password of an attempt, in its body or by Basic authentication; `undefined` if none is known. */
function passwordOf(req: unknown): string | undefined {
  const values = Object.entries(fieldsOf(asRequest(req).body))
    .filter(([name, value]) => typeof value === 'string' && PASSWORD.test(name))
    .map(([, value]) => value)
  if (values.length > 0) return values.join('\0') // such as a client's secret before the password
  const authorization = headerOf(req, 'authorization')
  return authorization?.startsWith('Basic ') ? authorization : undefined
}
