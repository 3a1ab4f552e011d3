import type { AddressInfo } from 'node:net'
import fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { type RateLimitPluginOptions, rateLimit } from 'headgate/fastify'
import { type Answer, closeWithServers, type Sent, send } from '../../../support/http.js'

/** An application of Fastify that listens. */
export interface Served {
  readonly app: FastifyInstance
  /** Sends a request: its path, or more. */
  get(sent?: string | Sent): Promise<Answer>
  /** The statuses of some requests, one after the other. */
  statuses(...requests: readonly (string | Sent)[]): Promise<number[]>
}

/** Starts an application; `closeServers` closes it. Errors are answered by their message. */
export async function start(
  declare: (app: FastifyInstance) => unknown,
  options: FastifyServerOptions = {},
): Promise<Served> {
  const app = fastify(options)
  closeWithServers(() => app.close())
  await declare(app)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const get = (sent: string | Sent = '/') => send({ port }, typeof sent === 'string' ? { path: sent } : sent)
  return {
    app,
    get,
    async statuses(...requests) {
      const statuses: number[] = []
      for (const sent of requests) statuses.push((await get(sent)).status)
      return statuses
    },
  }
}

/** Starts an application with the plugin, routes of the three kinds, and perhaps more. */
export function startWith(
  options: RateLimitPluginOptions,
  declare: (app: FastifyInstance) => unknown = () => undefined,
): Promise<Served> {
  return start(async (app) => {
    await app.register(rateLimit, options)
    app.get('/', () => 'hello')
    app.get('/own', { config: { rateLimit: ONE } }, () => 'own')
    app.get('/free', { config: { rateLimit: false } }, () => 'free')
    await declare(app)
  })
}

export const ONE = { limit: 1, window: '1m' } as const
export const TWO = { limit: 2, window: '1m' } as const
