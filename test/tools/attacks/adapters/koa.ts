import { json } from 'node:stream/consumers'
import Router from '@koa/router'
import { loginGuard } from 'headgate/koa'
import Koa, { type Context, type Middleware } from 'koa'
import { listening } from './express.js'
import { guardOptions, loginStatus, type SiteOf } from './login.js'

const bodyOf = ({ request }: Context) => (request as { body?: unknown }).body

const parse: Middleware = async (ctx, next) => {
  if (ctx.is('json')) Object.assign(ctx.request, { body: await json(ctx.req) })
  await next()
}

function check(ctx: Context): void {
  ctx.status = loginStatus(bodyOf(ctx))
}

function accept(ctx: Context): void {
  ctx.body = 'a form, or a message'
}

export const koaSite: SiteOf = {
  name: 'Koa',
  async start() {
    const router = new Router()
    router.post('/route/login', loginGuard(guardOptions('route')), check)
    router.use('/prefix', loginGuard(guardOptions('prefix')))
    router.post('/prefix/login', check).get('/prefix/login', accept).options('/prefix/login', accept)
    router.post('/prefix/forgot', accept)
    router.all('/all/login', loginGuard(guardOptions('all')), check)
    const app = new Koa().use(parse).use(router.routes()).use(router.allowedMethods())
    return listening(app.listen(0, '::1'))
  },
}
