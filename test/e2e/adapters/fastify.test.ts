import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Decision } from 'headgate'
import {
  loginGuard,
  overloadGuard,
  type RateLimitHookOptions,
  rateLimit,
  rateLimitHook,
} from 'headgate/fastify'
import { limitedAnswer, limitersOf, makeApplication, type Running, timesMounted } from './application.js'
import { adapterCases } from './cases.js'
import { loginCases } from './login-cases.js'
import { overloadCases } from './overload-cases.js'
import type { Scenario } from './scenarios.js'

function onDenied(_request: FastifyRequest, reply: FastifyReply, decision: Decision): FastifyReply {
  return reply.send(limitedAnswer(decision).text) // with the status of the option
}

/** Returns what a route needs for the limiters of a scenario. */
type RouteOf = (scenario: Scenario) => object

async function start(routeOf: RouteOf, prepare: (app: FastifyInstance) => unknown): Promise<Running> {
  const application = makeApplication()
  const app = fastify({ forceCloseConnections: true })
  app.decorateRequest('user')
  app.addHook('onRequest', async (request) => {
    Object.assign(request, { user: application.userOf(request) })
  })
  await prepare(app)
  const handlerOf = (name: string) => async (request: FastifyRequest, reply: FastifyReply) => {
    const { status, text } = await application.handle(name, request, request.rateLimit)
    return reply.code(status).send(text)
  }
  for (const [name, scenario] of application.scenarios)
    app.all(`/${name}`, routeOf(scenario), handlerOf(name))
  for (const [name, options] of application.guards)
    app.all(`/${name}`, { preHandler: loginGuard(options) }, handlerOf(name))
  for (const [name, overload] of application.overloads) {
    const guard = overloadGuard({ ...overload.options, ...(overload.isAnsweredByApp && { onDenied }) })
    app.all(`/${name}`, { onRequest: timesMounted(overload, guard) }, handlerOf(name))
  }
  await app.ready()
  for (const [name, { onLimiter }] of application.scenarios)
    for (const limiter of limitersIn(app)) if (limiter.name === name) onLimiter?.(limiter)
  return application.listen(app.server, () => app.close())
}

/** Returns the limiters that the plugin has created; none without the plugin. */
function limitersIn(app: FastifyInstance): FastifyInstance['rateLimiters'] {
  return app.hasDecorator('rateLimiters') ? app.rateLimiters : []
}

function optionsOf({ isAnsweredByApp }: Scenario, options: RateLimitHookOptions): RateLimitHookOptions {
  return isAnsweredByApp ? { ...options, onDenied } : options
}

const byHooks: RouteOf = (scenario) => ({
  preValidation: limitersOf(scenario, (options) => rateLimitHook(optionsOf(scenario, options))),
})

/** The first limiter in the `config` of its route; the name is the one that it has in other adapters. */
const byConfig: RouteOf = (scenario) => {
  const [first, ...others] = scenario.limiters
  if (first === undefined || scenario.isMountedTwice) return byHooks(scenario)
  const options = optionsOf(scenario, { name: '2-in-1min', ...first })
  return {
    config: { rateLimit: { ...options, hook: 'preValidation' } },
    ...byHooks({ ...scenario, limiters: others }),
  }
}

const hooks = { name: 'Fastify 5, by hooks', start: () => start(byHooks, () => undefined) }
adapterCases(hooks)
loginCases(hooks)
overloadCases(hooks)
adapterCases({
  name: 'Fastify 5, by its plugin',
  start: () => start(byConfig, (app) => app.register(rateLimit, { global: false })),
})
