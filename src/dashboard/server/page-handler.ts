import type { IncomingMessage, ServerResponse } from 'node:http'
import { messageOf } from '../../stores/store-error.js'
import { warnOnce } from '../../util/warn-once.js'
import type { PageFigures } from '../figures/shown.js'
import type { Actions } from './actions.js'
import { checkOrigin } from './cross-origin.js'
import { eventStream } from './event-stream.js'
import { checkHost } from './hosts.js'
import type { DashboardOptions } from './options.js'
import { pageData } from './page-data.js'
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
import { sessionOf } from './session.js'

/** What serves the page. */
export interface PageServer<Req extends IncomingMessage, Res extends ServerResponse> {
  handle(req: Req, res: Res, next?: (error?: unknown) => void): void
  /** Ends the connections of open pages, and rejects actions from then on: nothing would log them. */
  stop(): void
}

/** Creates what serves the page: its files, its figures and its actions. */
export function pageServer<Req extends IncomingMessage, Res extends ServerResponse>(
  figures: PageFigures,
  actions: Actions,
  { authorize, operator, hosts = [] }: Omit<DashboardOptions<Req, Res>, 'limiters'>,
): PageServer<Req, Res> {
  const files = readPageFiles()
  const stream = eventStream(figures)
  const data = pageData(figures)
  let isStopped = false

  async function answer(req: Req, res: Res): Promise<void> {
    setSecurityHeaders(res)
    checkHost(req, hosts)
    const access = await authorize(req, res)
    if (res.headersSent || res.writableEnded) return
    if (access !== true && access !== 'view')
      throw new RequestError(403, 'You are not allowed to see this page.')
    const [path = '/', query = ''] = req.url?.split('?', 2) ?? []
    const name = path.slice(path.lastIndexOf('/') + 1) // relative to where the page is mounted
    const action = actions.get(name)
    if (isStopped && action !== undefined) throw new RequestError(503, 'The dashboard is closed.')
    if (action === undefined) return show(name, new URLSearchParams(query), access, req, res)
    if (req.method !== 'POST') throw notAllowed('POST')
    checkOrigin(req, hosts)
    if (action.isChange && access !== true)
      throw new RequestError(403, 'You may see this page, but not change anything.')
    const { operator: by } = sessionOf(access, operator?.(req))
    sendJson(res, 200, await action.run(await readJson(req), { operator: by, req }))
  }

  async function show(
    name: string,
    query: URLSearchParams,
    access: true | 'view',
    req: Req,
    res: Res,
  ): Promise<void> {
    if (name === 'stream') {
      if (req.method !== 'GET') throw notAllowed('GET')
      checkOrigin(req, hosts) // another site could read nothing, but take the places of all pages
      const view = { limiter: query.get('limiter') ?? undefined, search: query.get('q') ?? '' }
      return stream.add(res, view, sessionOf(access, operator?.(req)))
    }
    if (req.method !== 'GET' && req.method !== 'HEAD') throw notAllowed('GET, HEAD')
    const sendData = data.get(name)
    if (sendData !== undefined) {
      checkOrigin(req, hosts)
      return sendData(res, query)
    }
    const file = files.get(name === '' ? 'index.html' : name)
    if (isFolderWithoutSlash(req, name, file)) redirectToFolder(req, res)
    else if (file === undefined) throw new RequestError(404, 'There is no such page.')
    else send(res, 200, file.type, file.content)
  }

  function handle(req: Req, res: Res, next?: (error?: unknown) => void): void {
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

  function stop(): void {
    isStopped = true
    stream.stop()
  }

  return { handle, stop }
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
