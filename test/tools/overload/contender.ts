import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Work } from './scenario.js'

export type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void>

/** Lets a request pass, or denies it. */
export type Guard = (req: IncomingMessage, res: ServerResponse, pass: () => Promise<void>) => void

export interface Contender {
  readonly server: Server
  /** The limit that it has found, if it has one. */
  limit?(): number
}

/** Creates a server that is guarded. */
export type MakeContender = (setting: {
  readonly handle: Handler
  readonly work: Work
  /** The folder with the packages of other guards. */
  readonly packages: string
}) => Contender | Promise<Contender>

export function guarded(handle: Handler, guard: Guard): Server {
  return createServer((req, res) => guard(req, res, () => handle(req, res)))
}

export function deny(res: ServerResponse): void {
  res.statusCode = 503
  res.setHeader('Retry-After', '1').end('Try again later.\n')
}
