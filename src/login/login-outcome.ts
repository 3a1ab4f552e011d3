import type { IncomingMessage, ServerResponse } from 'node:http'
import { optionalFunction, wrongOption } from '../checks.js'
import { warnOnce } from '../warn-once.js'

/** How a success is told from a failure. */
export interface OutcomeOptions<Req, Res> {
  /**
   * Whether a response means that somebody logged in; read when its headers are about to be sent. Default: a status below 400 that is no
   * redirect to a failure.
   */
  succeeded?: (req: Req, res: Res) => boolean
  /**
   * Where the application redirects those who failed: a path, `'/login'`, or with parameters that it has then, `'/login?error'`; or several; `false` where it never
   * does. A redirect to a relative path is no success. To be given wherever logins are answered by redirects. Default: the path that the attempt was sent to, since a form that sends people
   * back to itself did not let them in; a redirect elsewhere counts as a success then, and is told once (`HEADGATE_REDIRECT_UNTOLD`).
   */
  failureRedirect?: string | readonly string[] | false
}

/** Whether a response whose headers are about to be sent means a success. */
export type Succeeded<Req, Res> = (req: Req, res: Res) => boolean

/** Tells whether a redirect sends back who failed. */
type RedirectTest = (to: URL, from: URL | undefined) => boolean

/** Reads and checks how a success is told. */
export function readSucceeded<Req extends IncomingMessage, Res extends ServerResponse>(
  owner: string,
  { succeeded, failureRedirect }: OutcomeOptions<Req, Res>,
): Succeeded<Req, Res> {
  optionalFunction(owner, 'succeeded', succeeded)
  if (succeeded !== undefined && failureRedirect !== undefined) {
    throw new TypeError(`${owner}: give either succeeded or failureRedirect, not both.`)
  }
  if (succeeded !== undefined) return succeeded
  const isFailure = redirectTest(owner, failureRedirect)
  return (req, res) => {
    if (res.statusCode < 300 || res.statusCode >= 400) return res.statusCode < 300
    const from = urlOf(req)
    const location = res.getHeader('location')
    const to = parsed(location, from?.href ?? ANY_HOST)
    const isRelative = !/^([a-z][a-z\d+.-]*:|\/)/i.test(String(location)) // by the attempt's own path, which its sender writes
    return to !== undefined && !isRelative && !isFailure(to, from) // what cannot be read, or relied on, is no success
  }
}

function redirectTest(owner: string, option: OutcomeOptions<never, never>['failureRedirect']): RedirectTest {
  if (option === false) return () => false
  if (option === undefined) return isBackToItself
  const list: readonly unknown[] = Array.isArray(option) ? option : [option]
  if (list.length === 0)
    throw wrongOption(owner, 'failureRedirect', 'a path at least', option, 'Write failureRedirect: false.')
  const failures = list.map((each) => {
    const url = ORIGIN_FORM.test(String(each)) ? parsed(each, ANY_HOST) : undefined
    if (url !== undefined) return url
    const must = "a path such as '/login', an array of paths, or false"
    throw wrongOption(owner, 'failureRedirect', must, each)
  })
  return (to) => failures.some((url) => isSamePath(to, url) && hasParameters(to, url))
}

/** Whether a redirect has all parameters of a failure's, in any order and among others. */
function hasParameters(to: URL, failure: URL): boolean {
  return [...failure.searchParams].every(([name, value]) =>
    to.searchParams.getAll(name).some((one) => value === '' || one === value),
  )
}

function isBackToItself(to: URL, from: URL | undefined): boolean {
  if (from === undefined || isSamePath(to, from)) return true
  warnOnce(
    'HEADGATE_REDIRECT_UNTOLD',
    `headgate: a guarded login answered with a redirect to ${to.pathname}, which counts as a success. Where failures are redirected as ` +
      "well, say where to: failureRedirect: '/login'; where they never are: failureRedirect: false.",
  )
  return false
}

/** Paths are compared as routers match them, whatever their case, slashes and encoding: an attempt's own is written by its sender. */
function isSamePath(one: URL, other: URL): boolean {
  return folded(one) === folded(other)
}

function folded({ pathname }: URL): string {
  return decoded(pathname).toLowerCase().replace(/\/+/g, '/').replace(/\/$/, '')
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Only paths and queries are compared: which host a redirect names is nothing that a failure would be told by. */
const ANY_HOST = 'http://any'

/** A path, as all clients write it but those that speak to a proxy, or are up to something. */
const ORIGIN_FORM = /^\/(?![/\\])/

function urlOf(req: IncomingMessage): URL | undefined {
  const { originalUrl = req.url ?? '' } = req as { originalUrl?: string }
  return ORIGIN_FORM.test(originalUrl) ? parsed(originalUrl, ANY_HOST) : undefined
}

function parsed(url: unknown, base: string): URL | undefined {
  try {
    return typeof url === 'string' ? new URL(url, base) : undefined
  } catch {
    return undefined
  }
}
