import type { IncomingMessage, ServerResponse } from 'node:http'
import { boardOf } from '../board/board.js'
import { watchAll } from '../figures/limiter-watch.js'
import { actionsOn, finderIn } from './actions.js'
import { type DashboardOptions, readDashboardOptions } from './options.js'
import { pageServer } from './page-handler.js'
import { trialActions } from './trial-actions.js'
import { undoAction } from './undo-action.js'

/** The dashboard: a handler for Express, Connect and `node:http`. */
export interface Dashboard<
  Req extends IncomingMessage = IncomingMessage,
  Res extends ServerResponse = ServerResponse,
> {
  (req: Req, res: Res, next?: (error?: unknown) => void): void
  /**
   * Stops counting, closes the connections of open pages, and tells other processes, so that none misses this one.
   * Resolves once they can know, or after some seconds. Never rejects.
   */
  close(): Promise<void>
}

/**
 * Creates a live page about limiters, which you mount on a path.
 *
 * - **What it shows.** One row per limiter, the worst first, with a sentence that says what is wrong, and the
 *   traffic of the last 15 minutes or 24 hours. Each row opens to the clients that are denied, the limits and
 *   the events. It counts from its creation on. For limiters on a store that processes share, it adds up all
 *   processes that have created a dashboard.
 * - **What it does.** It looks up clients, releases them, or blocks them for a time. For limiters with
 *   `settings`, it also blocks networks, exempts clients, raises their limits, and edits limits. It lists what
 *   is in force, with undo.
 * - **Security.** `authorize` decides who may see it, and who may change something. The page loads nothing
 *   from other servers and runs under a strict Content Security Policy. It rejects what other sites
 *   ask for, and requests for names that `hosts` does not list. It serves at most 20 pages at a time.
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
  const { limiters, hosts, label } = readDashboardOptions(options)
  const watches = watchAll(limiters, label)
  const board = boardOf(watches)
  const find = finderIn(watches)
  const actions = new Map([
    ...actionsOn(watches, board),
    ['undo', undoAction(find, board.tuning)] as const,
    ...trialActions(board.tuning, find),
  ])
  const { authorize, operator } = options
  const page = pageServer(board, actions, { authorize, hosts, ...(operator && { operator }) })

  function dashboardHandler(req: Req, res: Res, next?: (error?: unknown) => void): void {
    page.handle(req, res, next)
  }

  return Object.assign(dashboardHandler, {
    close() {
      page.stop()
      return board.stop()
    },
  })
}
