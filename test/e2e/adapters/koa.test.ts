import http from 'node:http'
import { json } from 'node:stream/consumers'
import Router from '@koa/router'
import type { Decision } from 'headgate'
import { loginGuard, overloadGuard, rateLimit } from 'headgate/koa'
import Koa, { type Context, type Next } from 'koa'
import { limitedAnswer, limitersOf, makeApplication, type Running, timesMounted } from './application.js'
import { adapterCases } from './cases.js'
import { loginCases } from './login-cases.js'
import { overloadCases } from './overload-cases.js'

function onDenied(ctx: Context, _next: Next, decision: Decision): void {
  ctx.body = limitedAnswer(decision).text // with the status of the option
}

function start(): Promise<Running> {
  const application = makeApplication()
  const app = new Koa()
  app.silent = true
  app.use(async (ctx, next) => {
    ctx.state.user = application.userOf(ctx)
    if (ctx.is('json')) Object.assign(ctx.request, { body: await json(ctx.req) })
    await next()
  })
  const router = new Router()
  const handlerOf = (name: string) => async (ctx: Context) => {
    const { status, text } = await application.handle(name, ctx, ctx.rateLimit)
    ctx.status = status
    ctx.body = text
  }
  for (const [name, scenario] of application.scenarios) {
    const limiters = limitersOf(scenario, (options) =>
      rateLimit(scenario.isAnsweredByApp ? { ...options, onDenied } : options),
    )
    router.all(`/${name}`, ...limiters, handlerOf(name))
  }
  for (const [name, options] of application.guards)
    router.all(`/${name}`, loginGuard(options), handlerOf(name))
  for (const [name, overload] of application.overloads) {
    const guard = overloadGuard({ ...overload.options, ...(overload.isAnsweredByApp && { onDenied }) })
    router.all(`/${name}`, ...timesMounted(overload, guard), handlerOf(name))
  }
  app.use(router.routes())
  return application.listen(http.createServer(app.callback()))
}

adapterCases({ name: 'Koa 3', start })
loginCases({ name: 'Koa 3', start })
overloadCases({ name: 'Koa 3', start })
