import type { RequestListener } from 'node:http'
import { configure as onCodegenie } from '@codegenie/serverless-express'
import lambdaFastify from '@fastify/aws-lambda'
import { getRequestListener } from '@hono/node-server'
import { Controller, Module, Param, Post, Res } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import { configure as onVendia } from '@vendia/serverless-express'
import express, { type Response } from 'express'
import fastify from 'fastify'
import { loginGuard, type RateLimitMiddleware, rateLimit } from 'headgate'
import * as onFastify from 'headgate/fastify'
import * as onHono from 'headgate/hono'
import * as onKoa from 'headgate/koa'
import * as onNest from 'headgate/nest'
import { Hono } from 'hono'
import { handle } from 'hono/aws-lambda'
import Koa from 'koa'
import inject from 'light-my-request'
import serverlessHttp from 'serverless-http'
import supertest from 'supertest'
import { eventFor, GUARD, LOGINS, type Options, REFUNDS } from './refunds.js'

type Given = Options | typeof GUARD

/** Returns what makes the limit or the guard of a framework. */
const either =
  <Made>(limit: (options: never) => Made, guard: (options: never) => Made) =>
  (options: Given): Made =>
    options === GUARD ? guard(GUARD as never) : limit(options as never)

const limitOrGuard = either<RateLimitMiddleware>(rateLimit, loginGuard)

/** Sends one request for `POST /<status>`, and resolves with the status of its response. */
type Invoke = (status: number) => Promise<number>

type Handler = (event: object, context: object) => Promise<{ statusCode: number }>

const withEvents =
  (handler: unknown): Invoke =>
  async (status) =>
    (await (handler as Handler)(eventFor(status), {})).statusCode

const withInject =
  (app: RequestListener): Invoke =>
  async (status) =>
    (await inject(app as never, { method: 'POST', url: `/${status}`, payload: {} })).statusCode

const withSupertest =
  (app: RequestListener): Invoke =>
  async (status) =>
    (await supertest(app).post(`/${status}`).send({})).status

const onExpress = (options: Given): RequestListener =>
  express().use(limitOrGuard(options), (req, res) => void res.status(Number(req.path.slice(1))).send('hello'))

function onNode(options: Given): RequestListener {
  const limit = limitOrGuard(options)
  return (req, res) =>
    limit(req as never, res as never, (error) => {
      res.statusCode = error ? 500 : Number(req.url?.slice(1))
      res.end('hello')
    })
}

const inKoa = (options: Given): RequestListener =>
  new Koa()
    .use(either(onKoa.rateLimit, onKoa.loginGuard)(options))
    .use((ctx) => {
      ctx.body = 'hello'
      ctx.status = Number(ctx.path.slice(1))
    })
    .callback()

function inFastify(options: Given) {
  const app = fastify()
  if (options === GUARD) app.addHook('preHandler', onFastify.loginGuard(GUARD))
  else app.register(onFastify.rateLimit, options as never)
  app.post<{ Params: { status: string } }>('/:status', async (request, reply) =>
    reply.code(Number(request.params.status)).send('hello'),
  )
  return app
}

const inHono = (options: Given) =>
  new Hono()
    .use(either(onHono.rateLimit, onHono.loginGuard)(options))
    .post('/:status', (c) => c.text('hello', Number(c.req.param('status')) as never))

@Controller()
class StatusController {
  @Post(':status')
  respond(@Param('status') status: string, @Res({ passthrough: true }) res: Response): string {
    res.status(Number(status))
    return 'hello'
  }
}

const nestModule = (options: Given) => {
  @Module({
    imports: [onNest.RateLimitModule.forRoot((options === GUARD ? {} : options) as never)],
    controllers: [StatusController],
  })
  class AppModule {}
  return AppModule
}

async function nestOnExpress(options: Given): Promise<RequestListener> {
  const app = await NestFactory.create(nestModule(options), { logger: false })
  if (options === GUARD) app.useGlobalGuards(onNest.loginGuard(GUARD))
  await app.init()
  return app.getHttpAdapter().getInstance()
}

async function nestOnFastify(options: Given) {
  const app = await NestFactory.create<NestFastifyApplication>(nestModule(options), new FastifyAdapter(), {
    logger: false,
  })
  if (options === GUARD) app.useGlobalGuards(onNest.loginGuard(GUARD))
  await app.init()
  await app.getHttpAdapter().getInstance().ready()
  return app.getHttpAdapter().getInstance()
}

const HOSTS: Readonly<Record<string, (options: Given) => Invoke | Promise<Invoke>>> = {
  'Express under supertest': (options) => withSupertest(onExpress(options)),
  'Koa under supertest': (options) => withSupertest(inKoa(options)),
  'Hono under supertest': (options) => withSupertest(getRequestListener(inHono(options).fetch)),
  'Fastify under its inject': (options) => {
    const app = inFastify(options)
    return async (status) => (await app.inject({ method: 'POST', url: `/${status}` })).statusCode
  },
  'Fastify under @fastify/aws-lambda': (options) => withEvents(lambdaFastify(inFastify(options))),
  'Fastify under serverless-http': (options) => withEvents(serverlessHttp(inFastify(options) as never)),
  'Hono under its aws-lambda': (options) => withEvents(handle(inHono(options))),
  'Hono under serverless-http': (options) =>
    withEvents(serverlessHttp(getRequestListener(inHono(options).fetch) as never)),
  'Nest on Express under serverless-http': async (options) =>
    withEvents(serverlessHttp((await nestOnExpress(options)) as never)),
  'Nest on Express under @codegenie/serverless-express': async (options) =>
    withEvents(onCodegenie({ app: await nestOnExpress(options) })),
  'Nest on Express under @vendia/serverless-express': async (options) =>
    withEvents(onVendia({ app: await nestOnExpress(options) })),
  'Nest on Fastify under @fastify/aws-lambda': async (options) =>
    withEvents(lambdaFastify((await nestOnFastify(options)) as never)),
  'Nest on Fastify under its inject': async (options) => {
    const app = await nestOnFastify(options)
    return async (status) => (await app.inject({ method: 'POST', url: `/${status}` })).statusCode
  },
  // Last, because it changes requests and responses of Node.js for the others.
  'Express under light-my-request': (options) => withInject(onExpress(options)),
  'node:http under light-my-request': (options) => withInject(onNode(options)),
  'Nest on Express under light-my-request': async (options) => withInject(await nestOnExpress(options)),
  'Koa under light-my-request': (options) => withInject(inKoa(options)),
  'Hono under light-my-request': (options) => withInject(getRequestListener(inHono(options).fetch)),
}

async function statuses(invoke: Invoke, sent: readonly number[]): Promise<number[]> {
  const seen: number[] = []
  for (const status of sent) {
    seen.push(await invoke(status))
    await new Promise((resolve) => setImmediate(resolve)) // a refund goes on after the response
  }
  return seen
}

const seen: Record<string, unknown> = {}
for (const [host, start] of Object.entries(HOSTS)) {
  const ofHost: unknown[] = []
  for (const { options, sent } of [...REFUNDS, LOGINS]) {
    try {
      ofHost.push(await statuses(await start(options), sent))
    } catch (error) {
      ofHost.push(String((error as Error).stack))
    }
  }
  seen[host] = ofHost
}
process.stdout.write(JSON.stringify(seen), () => process.exit())
