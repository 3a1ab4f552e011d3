import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import Router from '@koa/router'
import express, { type RequestHandler } from 'express'
import fastify, { type preHandlerHookHandler } from 'fastify'
import { loginGuard, memoryStore, type Store } from 'headgate'
import * as ofFastify from 'headgate/fastify'
import * as ofKoa from 'headgate/koa'
import Koa, { type Middleware } from 'koa'
import { guessAt, PER_ADDRESS } from './adapters/attacks.js'
import { listening } from './adapters/express.js'
import { guardOptions, loginStatus, type Site } from './adapters/login.js'
import { cellsOf, printedTable } from './adapters/table.js'
import { TWO_ROUTES } from './neighbors/table.js'

type Options = ReturnType<typeof guardOptions>

/** Starts a process of a site. A wrapper hides the guard in the route of the login, but not in another. */
type Start = (options: Options) => Promise<Site>

export const HIDDEN_LOGINS = {
  async Express(options) {
    const guard: RequestHandler = loginGuard(options as never)
    const app = express().use(express.json())
    app.post(
      '/two/login',
      (req, res, next) => guard(req, res, next),
      ({ body }, res) => {
        res.sendStatus(loginStatus(body))
      },
    )
    app.post('/two/forgot', guard, (_req, res) => void res.send('see your mail'))
    return listening(app.listen(0, '::1'))
  },
  async Koa(options) {
    const guard = ofKoa.loginGuard(options as never) as unknown as Middleware
    const router = new Router()
    router.post(
      '/two/login',
      (ctx, next) => guard(ctx as never, next),
      (ctx) => {
        ctx.status = loginStatus((ctx.request as { body?: unknown }).body)
      },
    )
    router.post('/two/forgot', guard as never, (ctx) => {
      ctx.body = 'see your mail'
    })
    const app = new Koa().use(async (ctx, next) => {
      Object.assign(ctx.request, { body: await json(ctx.req) })
      await next()
    })
    return listening(app.use(router.routes()).listen(0, '::1'))
  },
  async Fastify(options) {
    const guard = ofFastify.loginGuard(options as never) as unknown as preHandlerHookHandler
    const app = fastify({ forceCloseConnections: true })
    const hidden: preHandlerHookHandler = function (request, reply, done) {
      return guard.call(this, request, reply, done)
    }
    app.post('/two/login', { preHandler: hidden }, ({ body }, reply) => reply.code(loginStatus(body)).send())
    app.post('/two/forgot', { preHandler: guard }, () => 'see your mail')
    await app.listen({ port: 0, host: '::1' })
    return { port: (app.server.address() as AddressInfo).port, close: () => app.close() }
  },
} satisfies Readonly<Record<string, Start>>

/** Enough for more guesses than an account has once successes have cleared as many failures as they may. */
const ADDRESSES = 10

/**
 * Returns how many guesses reach the password, from several addresses and from one browser. The requests to
 * the other route go to the same process first, and to another one then.
 */
export async function guessHidden(start: Start, path?: string): Promise<[number, number][]> {
  const guesses: [number, number][] = []
  for (const processes of [1, 2]) {
    const store: Store = memoryStore({ clock: () => 0 })
    const options = { ...guardOptions('two'), store, ...(path && { path }) }
    const sites = [await start(options), await start(options)] as const
    const other = sites[processes - 1] as Site
    const from = (isOneBrowser: boolean) => guessAt(sites[0], TWO_ROUTES, ADDRESSES, isOneBrowser, other)
    guesses.push([await from(false), await from(true)])
    for (const site of sites) await site.close()
  }
  return guesses
}

/** Plays all, and returns the table as it is printed. */
export async function playHidden(): Promise<string> {
  const lines: string[][] = []
  for (const [name, start] of Object.entries(HIDDEN_LOGINS))
    for (const path of [undefined, '/two/login'])
      lines.push([`${name}, ${path ? 'with' : 'without'} path`, ...cellsOf(await guessHidden(start, path))])
  const title =
    'A guard that a wrapper hides in the route of the login, and nothing in one that always succeeds: how many of ' +
    `${ADDRESSES * PER_ADDRESS} guesses reached the password: from ${ADDRESSES} addresses / from one browser`
  return printedTable(title, [['guard', 'one process', 'two processes'], ...lines])
}
