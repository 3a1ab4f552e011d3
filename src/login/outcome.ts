import type { IncomingMessage, ServerResponse } from 'node:http'
import { posix } from 'node:path'
import { optionalFunction, wrongOption } from '../util/validate.js'
import { warnOnce } from '../util/warn-once.js'

/** How a guard recognises a success, where the handler does not report the outcome itself. */
export interface OutcomeOptions<Req, Res> {
  /**
   * Whether a response means that somebody logged in; called when its headers are about to be sent. Default:
   * a status below 300, or a redirect (3xx) that is a success by `failureRedirect`.
   */
  succeeded?: (req: Req, res: Res) => boolean
  /**
   * Which redirects (3xx) are failures. Default: all of them, and the first one emits the process warning
   * `HEADGATE_LOGIN_REDIRECT`.
   *
   * - A path, `'/login'`, or one with query parameters, `'/login?error'`, or several of them: redirects to
   *   these are failures, others successes. A `Location` must be an absolute path or URL to be a success.
   * - `false`: failures are never redirected, so every redirect is a success.
   *
   * A list of paths is only safe where the application writes the whole `Location` itself. Where the client
   * chooses any of it (`/:lang/login`, `req.originalUrl`, `Referer`), it can have its failures redirected to
   * a path that is not in the list: use `guard.reportSuccess` or `succeeded` instead.
   */
  failureRedirect?: string | readonly string[] | false
}

/** Whether a response whose headers are about to be sent means a success. */
export type Succeeded<Req, Res> = (req: Req, res: Res) => boolean

/** Whether a redirect means a success. */
type RedirectTest = (location: unknown) => boolean

/** Reads and checks how a success is recognised. */
export function readSucceeded<Req extends IncomingMessage, Res extends ServerResponse>(
  owner: string,
  { succeeded, failureRedirect }: OutcomeOptions<Req, Res>,
): Succeeded<Req, Res> {
  optionalFunction(owner, 'succeeded', succeeded)
  if (succeeded !== undefined && failureRedirect !== undefined) {
    throw new TypeError(`${owner}: give either succeeded or failureRedirect, not both.`)
  }
  if (succeeded !== undefined) return succeeded
  const isSuccess = readRedirectTest(owner, failureRedirect)
  return (_req, res) => {
    if (res.statusCode < 300 || res.statusCode >= 400) return res.statusCode < 300
    return isSuccess(res.getHeader('location'))
  }
}

function readRedirectTest(
  owner: string,
  option: OutcomeOptions<never, never>['failureRedirect'],
): RedirectTest {
  if (option === undefined) return failRedirect
  if (option === false) return (location) => location !== undefined
  const list: readonly unknown[] = Array.isArray(option) ? option : [option]
  if (list.length === 0)
    throw wrongOption(owner, 'failureRedirect', 'a path at least', option, 'Write failureRedirect: false.')
  const failures = list.map((each) => {
    const url = ABSOLUTE_PATH.test(String(each)) ? parsed(each) : undefined
    const path = url && canonicalPath(url)
    if (url !== undefined && path !== undefined) return { url, path }
    const must = "a path such as '/login', an array of paths, or false"
    throw wrongOption(owner, 'failureRedirect', must, each)
  })
  return (location) => {
    const to = parsed(location)
    const path = to && canonicalPath(to)
    if (to === undefined || path === undefined) return false
    return !failures.some((failure) => failure.path === path && hasParameters(to, failure.url))
  }
}

/**
 * Fails closed: a failure that counted as a success would clear its account, and so allow any number of
 * guesses.
 */
function failRedirect(): boolean {
  warnOnce(
    'HEADGATE_LOGIN_REDIRECT',
    'headgate: a guarded login was answered with a redirect, which counts as a failure. Set failureRedirect to the ' +
      "path that failed logins are redirected to ('/login'), or to false if only successful ones are redirected; or " +
      'pass succeeded: (req, res) => boolean, or call guard.reportSuccess(req).',
  )
  return false
}

/** Whether a redirect has all parameters of a failure's, in any order and among others. */
function hasParameters(to: URL, failure: URL): boolean {
  return [...failure.searchParams].every(([name, value]) =>
    to.searchParams.getAll(name).some((one) => value === '' || one === value),
  )
}

/** No application encodes a path more often than this. */
const MAX_ENCODINGS = 4

/**
 * Returns a path in one spelling, whatever its case, percent-encoding, slashes and dot segments, since an
 * application may redirect to `req.originalUrl`. `undefined` where it is percent-encoded too often to tell.
 */
function canonicalPath({ pathname }: URL): string | undefined {
  let path = pathname
  for (let i = 0; i <= MAX_ENCODINGS; i++) {
    const decoded = path.replace(/%([\da-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    if (decoded === path) return posix.normalize(path.replaceAll('\\', '/')).toLowerCase().replace(/\/$/, '')
    path = decoded
  }
  return undefined
}

/** Not `//host/path`, which names another host; URL parsers read `/\host` and `/<tab>/host` like it. */
const ABSOLUTE_PATH = /^\/(?![/\\\s])/
const ABSOLUTE_URL = /^[a-z][a-z\d+.-]*:\/\//i

/** An absolute path or URL. Only paths and parameters are compared, so the host does not matter. */
function parsed(url: unknown): URL | undefined {
  if (typeof url !== 'string' || !(ABSOLUTE_PATH.test(url) || ABSOLUTE_URL.test(url))) return undefined
  try {
    return new URL(url, 'http://any')
  } catch {
    return undefined
  }
}
