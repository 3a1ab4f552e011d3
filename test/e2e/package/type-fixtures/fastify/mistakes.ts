// Each mistake is an error at the word that its comment begins with.
import { fastify } from 'fastify'
import { loginGuard, rateLimit, rateLimitHook } from 'headgate/fastify'

const app = fastify()
const limit = { limit: 2, window: '1h' } as const
const noWindow = { limit: 2 }

export const mistakes = [
  // @ts-expect-error max: there is no such option
  () => app.register(rateLimit, { ...limit, max: 2 }),
  // @ts-expect-error noWindow: a limit needs a window
  () => rateLimitHook(noWindow),
  // @ts-expect-error noWindow: a limit needs a window
  () => app.register(rateLimit, noWindow),
  // @ts-expect-error rateLimit: there is no such hook
  () => app.get('/', { config: { rateLimit: { ...limit, hook: 'onSend' } } }, () => ''),
  // @ts-expect-error hook: the route says in which hook this is
  () => rateLimitHook({ ...limit, hook: 'preHandler' }),
  // @ts-expect-error get: requests of Fastify have none
  () => rateLimitHook({ ...limit, skip: (request) => request.get('x-admin') === 'yes' }),
  // @ts-expect-error sendStatus: replies of Fastify have none
  () => rateLimitHook({ ...limit, onDenied: (_request, reply) => reply.sendStatus(429) }),
  // @ts-expect-error feild: there is no such option
  () => loginGuard({ feild: 'username' }),
]
