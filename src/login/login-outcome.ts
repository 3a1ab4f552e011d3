import type { IncomingMessage, ServerResponse } from 'node:http'

import { optionalFunction, wrongOption } from '../checks.js'
import { beforeHeaders } from './before-headers.js'

/** How a success is told from a failure. */
export interface OutcomeOptions<Req, Res> {
  /**
   * Whether a response means that somebody logged in; read when its headers are about to be sent. Default: a status below 400 that is no
   * redirect to a failure.
   */
  succeeded?: (req: Req, res: Res) => boolean
  /**
   * Where the application redirects those who failed: a path, `'/login'`, or with a query, `'/login?error'`; or several. Default: the path
   * that the attempt was sent to, since a form that sends people back to itself did not let them in.
   */
  failureRedirect?: string | readonly string[]
}

/** Whether a response whose headers are about to be sent means a success. */
export type Succeeded<Req, Res> = (req: Req, res: Res) => boolean

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
  const failures = failureRedirect === undefined ? undefined : readFailures(owner, failureRedirect)
  return (req, res) => {
    if (res.statusCode < 300 || res.statusCode >= 400) return res.statusCode < 300
    const to = locationOf(req, res.getHeader('location'))
    if (failures === undefined) return to?.pathname !== urlOf(req)?.pathname
    return !failures.some(({ pathname, search }) => to?.pathname === pathname && to.search.startsWith(search))
  }
}

function readFailures(owner: string, value: unknown): URL[] {
  const list: unknown[] = Array.isArray(value) ? value : [value]
  return list.map((each) => {
    const url = typeof each === 'string' && each.startsWith('/') ? parsed(each, ANY_HOST) : undefined
    if (url !== undefined) return url
    const must = "a path such as '/login', or an array of paths"
    throw wrongOption(owner, 'failureRedirect', must, each)
  })
}

/** Only paths and queries are compared: which host a redirect names is nothing that a failure would be told by. */
const ANY_HOST = 'http://any'

function urlOf(req: IncomingMessage): URL | undefined {
  const { originalUrl = req.url } = req as { originalUrl?: string }
  return parsed(originalUrl ?? '/', ANY_HOST)
}

function locationOf(req: IncomingMessage, location: unknown): URL | undefined {
  return typeof location === 'string' ? parsed(location, urlOf(req)?.href ?? ANY_HOST) : undefined
}

function parsed(url: string, base: string): URL | undefined {
  try {
    return new URL(url, base)
  } catch {
    return undefined
  }
}

/**
 * Settles an attempt once: when the headers of its response are about to be sent; or as a failure where the
 * connection ends without any, since hanging up must be no way around.
 */
export function onOutcome<Req extends IncomingMessage, Res extends ServerResponse>(
  req: Req,
  res: Res,
  succeeded: Succeeded<Req, Res>,
  settle: (isSuccess: boolean, thrown?: unknown) => void,
): void {
  let isSettled = false

  function settleOnce(judge: () => boolean): void {
    if (isSettled) return
    isSettled = true
    try {
      settle(judge() === true)
    } catch (thrown) {
      settle(false, thrown)
    }
  }

  beforeHeaders(res, () => settleOnce(() => succeeded(req, res)))
  res.once('close', () => settleOnce(() => false))
}
