import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type RequestHandler } from 'express'
import { Redis } from 'ioredis'

/** A limit as every package has it: so many requests in so many milliseconds. */
export interface Limit {
  readonly name: string
  /** A number, except where a probe passes a wrong one. */
  readonly limit: number
  readonly windowMs: number
}

export interface Outcome {
  readonly allowed: boolean
  /** The wait that the package states for a denied request, as exactly as it states it. */
  readonly retryAfterMs?: number | undefined
}

/** Sends a request of a client: an IP address where the package finds the client itself. */
export type Send = (client: string) => Promise<Outcome>

/** A package, set up as its documentation says, with its defaults. */
export interface Contender {
  readonly name: string
  /** Sets up a limiter in memory; on the Redis at `url` if the package counts nowhere else. */
  limiter(limits: readonly [Limit, ...Limit[]], url: string): Send | Promise<Send>
  /** The same, with the strictest policy that the package has, where that is not its default. */
  strictest?(limit: Limit): Send | Promise<Send>
  /** Whether the package finds the client's IP address itself. */
  readonly findsClients: boolean
  /** Whether a request over its limits is denied, with a time, and not queued. */
  readonly denies: boolean
  /** Makes what counts clients in memory, and returns a function that counts one. */
  memory?(): (client: string) => unknown
  /** Sets up a limiter on a Redis. */
  onRedis?(url: string): Send | Promise<Send>
}

const opened: (() => unknown)[] = []

/** Closes at the end what contenders opened. */
export function closeLater(close: () => unknown): void {
  opened.push(close)
}

export async function closeAll(): Promise<void> {
  await Promise.all(opened.splice(0).map(async (close) => close()))
}

/** Serves an application on loopback. Its clients come through a proxy, which names their addresses. */
export async function serve(app: RequestListener): Promise<Send> {
  const server = createServer(app)
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  closeLater(() => {
    server.close()
    server.closeAllConnections()
  })
  return sendTo((server.address() as AddressInfo).port)
}

/** Requests of a server: a body in JSON may have `retryAfterMs`; otherwise `Retry-After` is read. */
export function sendTo(port: number): Send {
  return async (client) => {
    const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { 'x-forwarded-for': client } })
    const text = await response.text()
    if (response.status === 200) return { allowed: true }
    if (response.status !== 429) throw new Error(`status ${response.status}: ${text}`)
    const seconds = [...response.headers].find(([name]) => name.startsWith('retry-after'))?.[1]
    const stated = /"retryAfterMs":([\d.]+)/.exec(text)?.[1]
    return { allowed: false, retryAfterMs: stated ? Number(stated) : Number(seconds) * 1000 }
  }
}

/** A limit that no probe reaches. */
export const WIDE: Limit = { name: 'one', limit: 1000, windowMs: 60_000 }

/** Opens a client of the Redis at a URL. */
export function redisAt(url: string): Redis {
  const client = new Redis(url, { autoResendUnfulfilledCommands: false })
  client.on('error', () => {}) // probes hold the server, and end it
  closeLater(() => client.disconnect())
  return client
}

/** Serves handlers behind Express, which trusts the proxy in front. */
export function serveExpress(...handlers: readonly RequestHandler[]): Promise<Send> {
  const app = express().set('trust proxy', 1).set('env', 'test') // which logs no errors
  app.use(...handlers, (_req, res) => void res.send('hello'))
  return serve(app)
}
