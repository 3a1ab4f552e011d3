import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import type { Decision } from 'headgate'
import {
  type LoginGuardOptions,
  loginGuard,
  type OverloadGuardOptions,
  overloadGuard,
  type RateLimitOptions,
  rateLimit,
} from 'headgate/hono'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { limitedAnswer, limitersOf, makeApplication, type Running, timesMounted } from './application.js'
import { adapterCases } from './cases.js'
import { loginCases } from './login-cases.js'
import { overloadCases } from './overload-cases.js'

function onDenied(c: Context, decision: Decision): Response {
  return c.text(limitedAnswer(decision).text) // with the status of the option
}

/** Reads a body of JSON, as a validator does. */
const parseBody: MiddlewareHandler = async (c, next) => {
  await c.req.json().catch(() => undefined) // a Request with GET has no body
  await next()
}

function start(): Promise<Running> {
  const application = makeApplication()
  const app = new Hono<{ Variables: { user: unknown } }>().onError((_error, c) => c.text('failed', 500))
  app.use(parseBody, async (c, next) => {
    c.set('user', application.userOf(c.req.raw))
    await next()
  })

  function use(name: string, middlewares: readonly MiddlewareHandler[]): void {
    for (const middleware of middlewares) app.use(`/${name}`, middleware)
    app.all(`/${name}`, async (c) => {
      const { status, text } = await application.handle(name, c.req.raw, c.get('rateLimit'))
      return new Response(text, { status })
    })
  }

  for (const [name, scenario] of application.scenarios) {
    const limiters = limitersOf(scenario, (options) =>
      rateLimit({ ...(options as RateLimitOptions), ...(scenario.isAnsweredByApp && { onDenied }) }),
    )
    use(name, limiters)
  }
  for (const [name, options] of application.guards)
    use(name, [loginGuard({ ...options, path: `/${name}` } as LoginGuardOptions)])
  for (const [name, overload] of application.overloads) {
    const options = { ...overload.options, ...(overload.isAnsweredByApp && { onDenied }) }
    use(name, timesMounted(overload, overloadGuard(options as OverloadGuardOptions)))
  }
  return application.listen(createAdaptorServer({ fetch: app.fetch }) as Server)
}

adapterCases({ name: 'Hono', start })
loginCases({ name: 'Hono', start })
overloadCases({ name: 'Hono', start })
