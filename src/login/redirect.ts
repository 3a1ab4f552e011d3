import type { LoginWriter } from '../http/response-writer.js'
import { wrongOption } from '../util/validate.js'
import { warnOnce } from '../util/warn-once.js'
import { hasSafeMethod } from './place.js'

/** Returns whether a redirect to this `Location` means that the login succeeded. */
export type RedirectTest = (location: unknown) => boolean

/**
 * Returns a test for a status below 300, or for a redirect that `isSuccess` accepts. It returns `undefined`
 * for a status that does not say: 202, since nothing has been decided yet (RFC 9110 §15.3.3), as when a code
 * is sent by mail; and 304 on a safe method, which replaces a 200 whenever the client asks for that.
 */
export function succeededByStatus<Res>(
  { statusOf, getHeader }: LoginWriter<Res>,
  isSuccess: RedirectTest = failRedirect,
): (req: unknown, res: Res) => boolean | undefined {
  return (req, res) => {
    const status = statusOf(res)
    if (status === 202 || (status === 304 && hasSafeMethod(req))) return undefined
    const isRedirect = status >= 300 && status < 400 && status !== 304
    if (isRedirect) return isSuccess(getHeader(res, 'location'))
    return status < 300
  }
}

/**
 * Reports the first redirect, and fails closed: a failure that counted as a success would clear its account,
 * and so allow any number of guesses.
 */
function failRedirect(): boolean {
  warnOnce(
    'HEADGATE_LOGIN_REDIRECT',
    'headgate: a login responded with a redirect, which counts as a failure. Before you redirect a success, call ' +
      'guard.reportSuccess(req). Or set succeeded, or failureRedirect to where failed logins go ' +
      "('/login' or false).",
  )
  return false
}

export function readFailureRedirect(owner: string, option: string, value: unknown): RedirectTest {
  if (value === false) return (location) => location !== undefined
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (list.length === 0)
    throw wrongOption(owner, option, 'at least one path', value, `Write ${option}: false.`)
  const failures = list.map((each) => {
    const place = ABSOLUTE_PATH.test(String(each)) ? placeOf(each) : undefined
    if (place !== undefined) return place
    const must = "a path such as '/login', an array of paths, or false"
    throw wrongOption(owner, option, must, each, `Did you mean ${option}: '/login'?`)
  })
  return (location) => {
    const to = placeOf(location)
    return to !== undefined && !failures.some((failure) => isAt(to, failure))
  }
}

/** Where a redirect goes, without its host. */
type RedirectPlace = { readonly path: string; readonly parameters: URLSearchParams }

/** Returns whether a place has the path of a failure, and its parameters in any order and among others. */
function isAt({ path, parameters }: RedirectPlace, failure: RedirectPlace): boolean {
  if (path !== failure.path) return false
  return [...failure.parameters].every(([name, value]) =>
    parameters.getAll(name).some((one) => value === '' || one === value),
  )
}

/** Not `//host/path`, which names another host; URL parsers read `/\host` and `/<tab>/host` like it. */
const ABSOLUTE_PATH = /^\/(?![/\\\s])/
const ENCODED = /%[\da-f]{2}/gi
const ABSOLUTE_URL = /^[a-z][a-z\d+.-]*:\/\//i

/** Returns the place of an absolute path or URL, `undefined` for anything else. */
function placeOf(location: unknown): RedirectPlace | undefined {
  if (typeof location !== 'string') return undefined
  if (!ABSOLUTE_PATH.test(location) && !ABSOLUTE_URL.test(location)) return undefined
  const base = 'http://any'
  if (!URL.canParse(location, base)) return undefined
  const { pathname, searchParams } = new URL(location, base)
  const path = canonicalPath(pathname)
  return path === undefined ? undefined : { path, parameters: searchParams }
}

/**
 * Returns a path in one spelling, whatever its case, percent-encoding, slashes and dot segments, since an
 * application may redirect to `req.originalUrl`. `undefined` if it is percent-encoded twice.
 */
function canonicalPath(pathname: string): string | undefined {
  const path = pathname.replace(ENCODED, (octet) => String.fromCharCode(Number.parseInt(octet.slice(1), 16)))
  if (path.search(ENCODED) >= 0) return undefined
  const segments: string[] = []
  for (const segment of path.replaceAll('\\', '/').toLowerCase().split('/')) {
    if (segment === '..') segments.pop()
    else if (segment !== '' && segment !== '.') segments.push(segment)
  }
  return `/${segments.join('/')}`
}
