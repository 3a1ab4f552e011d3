import type { IncomingMessage, ServerResponse } from 'node:http'
import type { INestApplication } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { WsAdapter } from '@nestjs/platform-ws'
import { RateLimiters } from 'headgate/nest'
import onHeaders from 'on-headers'
import { type Application, makeApplication, type Running } from '../adapters/application.js'
import { CallsModule } from './calls-module.js'
import { GlobalModule, LocalModule } from './http-module.js'
import { scenarioModule } from './scenario-module.js'

/** What a cache would keep a response by. */
const EARLIER = [
  ['Cache-Control', 'public, max-age=300'],
  ['CDN-Cache-Control', 'max-age=300'],
  ['ETag', '"1"'],
] as const

/** What outer middleware sets on every response, in place of what limiters have set. */
const LATER = ['Cache-Control', 'public, max-age=300'] as const

/** The application responds to these denials, so that it may be cached. */
const isAnswered = ({ url }: { readonly url?: string | undefined }) => url?.startsWith('/answered')

/** Passes their limiters to the scenarios that take them. */
function passLimiters({ scenarios }: Application, app: INestApplication, prefix: string): void {
  const limiters = app.get(RateLimiters, { strict: false })
  for (const [name, { onLimiter }] of scenarios) {
    const limiter = limiters.get(prefix + name)
    if (limiter !== undefined) onLimiter?.(limiter)
  }
}

type Ports = Pick<Running, 'port' | 'signalPort'>

async function startOnExpress(): Promise<Ports> {
  const application = makeApplication()
  const app = await NestFactory.create(scenarioModule(application, 'express-'), { logger: false })
  app.use((req: IncomingMessage, res: ServerResponse, next: () => void) => {
    for (const [name, value] of EARLIER) res.setHeader(name, value)
    onHeaders(res, () => isAnswered(req) || res.setHeader(...LATER))
    Object.assign(req, { user: application.userOf(req) })
    next()
  })
  await app.init()
  passLimiters(application, app, 'express-')
  return application.listen(app.getHttpServer())
}

async function startOnFastify(): Promise<Ports> {
  const application = makeApplication()
  const adapter = new FastifyAdapter()
  const app = await NestFactory.create(scenarioModule(application, 'fastify-'), adapter, { logger: false })
  adapter.getInstance().addHook('onRequest', async (req, reply) => {
    for (const [name, value] of EARLIER) reply.header(name, value)
    Object.assign(req, { user: application.userOf(req) })
  })
  adapter
    .getInstance()
    .addHook('onSend', async (req, reply) => void (isAnswered(req) || reply.header(...LATER)))
  await app.init()
  passLimiters(application, app, 'fastify-')
  await adapter.getInstance().ready()
  return application.listen(app.getHttpServer())
}

async function listen(app: INestApplication): Promise<number> {
  await app.listen(0, '127.0.0.1')
  return app.getHttpServer().address().port
}

const calls = await NestFactory.create(CallsModule, new FastifyAdapter(), { logger: ['error'] })
calls.useWebSocketAdapter(new WsAdapter(calls))
const started = {
  express: await startOnExpress(),
  fastify: await startOnFastify(),
  global: await listen(await NestFactory.create(GlobalModule, { logger: ['error'] })),
  local: await listen(await NestFactory.create(LocalModule, { logger: ['error'] })),
  calls: await listen(calls),
}
process.stdout.write(`${JSON.stringify(started)}\n`)
process.stdin.on('close', () => process.exit()).resume()
