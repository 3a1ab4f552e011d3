import type { IncomingMessage, ServerResponse } from 'node:http'
import { messageOf } from '../../stores/store-error.js'
import { warnOnce } from '../../util/warn-once.js'
import { boardOf } from '../figures/board.js'
import { LimiterWatch } from '../figures/limiter-watch.js'
import { actionsOn } from './actions.js'
import { checkOrigin } from './cross-origin.js'
import { eventStream } from './event-stream.js'
import { checkHost } from './hosts.js'
import { type DashboardOptions, readDashboardOptions } from './options.js'
import { type PageFile, readPageFiles } from './page-files.js'
import { readJson } from './read-json.js'
import {
  isMounted,
  RequestError,
  redirectToFolder,
  send,
  sendError,
  sendJson,
  sentPath,
  setSecurityHeaders,
} from './respond.js'

/** The dashboard: a handler for Express, Connect and `node:http`. */
export interface Dashboard<
  Req extends IncomingMessage = IncomingMessage,
  Res extends ServerResponse = ServerResponse,
> {
  (req: Req, res: Res, next?: (error?: unknown) => void): void
  /** Stops counting, and closes the connections of open pages. */
  close(): void
}

/**
 * Creates a live page about limiters, which you mount on a path.
 *
 * - **What it shows.** Allowed and denied requests over the last 15 minutes, the clients near a limit, and
 *   those denied most. Also the load of each limit, candidates next to the limits in force, and the store.
 *   It counts from its creation on. For limiters on Redis, it adds up all processes that have created a
 *   dashboard.
 * - **What it does.** It looks up an identity, releases it, or blocks it for a time.
 * - **Security.** `authorize` decides who may see it. The page loads nothing from other servers and runs
 *   under a strict Content Security Policy. It rejects changes that other sites send, and requests for
 *   names that `hosts` does not list. It serves at most 20 pages at a time.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 *
 * @example
 * ```ts
 * import express, { type Request } from 'express'
 * import { rateLimit } from 'headgate'
 * import { dashboard } from 'headgate/dashboard'
 *
 * const app = express()
 * const api = rateLimit({ name: 'api', limit: 100, window: '1m' })
 * const authorize = (req: Request) => req.user?.id === 'ada' // your administrators
 * app.use('/limits', dashboard({ limiters: [api.limiter], authorize }))
 * app.use(api)
 * app.listen(3000)
 * ```
 */
export function dashboard<
  Req extends IncomingMessage = IncomingMessage,
  Res extends ServerResponse = ServerResponse,
>(options: DashboardOptions<Req, Res>): Dashboard<Req, Res> {
  const { limiters, hosts } = readDashboardOptions(options)
  const { authorize } = options
  const files = readPageFiles()
  const watches = limiters.map((watched) => new LimiterWatch(watched))
  const board = boardOf(watches)
  const stream = eventStream(board)
  const actions = actionsOn(watches)

  async function answer(req: Req, res: Res): Promise<void> {
    setSecurityHeaders(res)
    checkHost(req, hosts)
    const isAuthorized = await authorize(req, res)
    if (res.headersSent || res.writableEnded) return
    if (isAuthorized !== true) throw new RequestError(403, 'You are not allowed to see this page.')
    const path = req.url?.split('?', 1)[0] ?? '/'
    const name = path.slice(path.lastIndexOf('/') + 1) // relative to where the page is mounted
    const action = actions.get(name)
    if (action !== undefined) {
      if (req.method !== 'POST') throw notAllowed('POST')
      checkOrigin(req, hosts)
      sendJson(res, 200, await action(await readJson(req)))
      return
    }
    show(name, req, res)
  }

  function show(name: string, req: Req, res: Res): void {
    if (name === 'events') {
      if (req.method !== 'GET') throw notAllowed('GET')
      stream.add(res)
      return
    }
    if (req.method !== 'GET' && req.method !== 'HEAD') throw notAllowed('GET, HEAD')
    const file = files.get(name === '' ? 'index.html' : name)
    if (isFolderWithoutSlash(req, name, file)) redirectToFolder(req, res)
    else if (file === undefined) throw new RequestError(404, 'There is no such page.')
    else send(res, 200, file.type, file.content)
  }

  function dashboardHandler(req: Req, res: Res, next?: (error?: unknown) => void): void {
    answer(req, res).catch((error) => {
      if (error instanceof RequestError) sendError(res, error)
      else if (next) next(error)
      else {
        warnOnce(
          'HEADGATE_DASHBOARD_FAILED',
          `headgate: a request to the dashboard failed (${messageOf(error)}).`,
        )
        sendJson(res, 500, { error: 'The dashboard failed.' })
      }
    })
  }

  return Object.assign(dashboardHandler, {
    close() {
      stream.stop()
      board.stop()
    },
  })
}

/**
 * Returns whether a request is for the page, but without the slash at the end of its folder. With
 * `node:http` alone, nothing says where the page is mounted. Then any name that is not a file, and is not
 * spelled like one, is taken for the folder.
 */
function isFolderWithoutSlash(req: IncomingMessage, name: string, file: PageFile | undefined): boolean {
  if (name === '') return !sentPath(req).endsWith('/')
  return file === undefined && !isMounted(req) && /^[\w-]+$/.test(name)
}

function notAllowed(methods: string): RequestError {
  return new RequestError(405, `Use ${methods}.`, { Allow: methods })
}
