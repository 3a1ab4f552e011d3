import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type {
  FastifyInstance,
  FastifyPluginCallback,
  FastifyReply,
  FastifyRequest,
  preHandlerHookHandler,
} from 'fastify'
import { loginGuard } from 'headgate/fastify'
import { loginStatus } from '../adapters/login.js'
import type { Guards, Listen, SiteContext } from './server.js'

const check = ({ body }: FastifyRequest, reply: FastifyReply) => reply.code(loginStatus(body)).send()
const accept = () => 'a form, or a message'

/** Hides a hook, as wrappers do. */
const hide = (hook: preHandlerHookHandler): preHandlerHookHandler =>
  function hidden(request, reply, done) {
    return hook.call(this, request, reply, done)
  }

export async function listenOnFastify({ load, layout, options }: SiteContext): Promise<Listen> {
  const fastify = load<typeof import('fastify').fastify>('fastify')
  const wrap = layout === 'wrapped' ? hide : (hook: preHandlerHookHandler) => hook
  return async () => {
    const app: FastifyInstance = fastify({ forceCloseConnections: true })
    const guards: Guards<preHandlerHookHandler> = (mount) => wrap(loginGuard(options(mount)) as never)
    const preHandler = guards('route')
    if (layout === 'autoload') {
      const dir = join(process.cwd(), 'test/tools/attacks/neighbors/autoload')
      await app.register(load<FastifyPluginCallback<{ dir: string; options: object }>>('@fastify/autoload'), {
        dir,
        options: { guard: preHandler, check },
      })
    } else {
      app.register(async (scope) => scope.post('/', { preHandler }, check), { prefix: '/route/login' })
    }
    app.register(async (scope) => scope.all('/', { preHandler: guards('all') }, check), {
      prefix: '/all/login',
    })
    app.register(
      async (scope) => {
        scope.addHook('preHandler', guards('prefix'))
        scope.register(async (login) => login.post('/', check).get('/', accept).options('/', accept), {
          prefix: '/login',
        })
        scope.register(async (forgot) => forgot.post('/', accept), { prefix: '/forgot' })
      },
      { prefix: '/prefix' },
    )
    const two = guards('two')
    app.register(async (scope) => scope.post('/', { preHandler: two }, check), { prefix: '/two/login' })
    app.register(async (scope) => scope.post('/', { preHandler: two }, accept), { prefix: '/two/forgot' })
    await app.listen({ port: 0, host: '::1' })
    return (app.server.address() as AddressInfo).port
  }
}
