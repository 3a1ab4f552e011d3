import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import fastify, { type FastifyInstance, type FastifyPluginAsync } from 'fastify'
import { rateLimit } from 'headgate/fastify'
import type { FrameworkContenders } from './contender.js'

/** Its types cannot be loaded beside those of headgate/fastify: both declare the config of routes. */
const peer: FastifyPluginAsync<{ max: number; timeWindow: number }> = createRequire(import.meta.url)(
  '@fastify/rate-limit',
)

export const FASTIFY: FrameworkContenders = {
  nothing: () => serve(async () => undefined),
  headgate: ({ limit, windowMs: window }) => serve((app) => app.register(rateLimit, { limit, window })),
  usual: ({ limit: max, windowMs: timeWindow }) => serve((app) => app.register(peer, { max, timeWindow })),
}

async function serve(use: (app: FastifyInstance) => PromiseLike<unknown>): Promise<Server> {
  const app = fastify()
  await use(app)
  app.get('/', (_request, reply) => reply.send('hello'))
  await app.ready()
  return app.server
}
