/** Prints what applications of Nest respond behind @nestjs/throttler and behind headgate, as JSON. */
import 'reflect-metadata'
import { createRequire } from 'node:module'
import { Controller, type DynamicModule, Get, Module, type Type } from '@nestjs/common'
import * as core from '@nestjs/core'
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler'
import { byHeader, byIp, byRoute } from 'headgate'
import { RateLimit, RateLimitModule } from 'headgate/nest'

@Controller()
class Plain {
  @Get('a') a() {
    return 'a'
  }
  @Get('b') b() {
    return 'b'
  }
}

@Controller()
class Decorated {
  @Get('a') @RateLimit({ limit: 1, window: '1m' }) a() {
    return 'a'
  }
}

/** The copy that @nestjs/throttler loads: tsx compiles what is required apart from what is imported. */
const theirCore: typeof core = createRequire(import.meta.url)('@nestjs/core')

type Paths = readonly [path: string, headers?: Record<string, string>][]

/** Sends a request to each path, one after the other. */
async function responses(imports: DynamicModule, controller: Type, paths: Paths): Promise<Response[]> {
  const isTheirs = imports.module === ThrottlerModule
  const { APP_GUARD, NestFactory } = isTheirs ? theirCore : core
  const providers = isTheirs ? [{ provide: APP_GUARD, useClass: ThrottlerGuard }] : []
  @Module({ imports: [imports], controllers: [controller], providers })
  class App {}
  const app = await NestFactory.create(App, { logger: false, abortOnError: false })
  await app.listen(0, '127.0.0.1')
  const url = await app.getUrl()
  const all: Response[] = []
  for (const [path, headers = {}] of paths) all.push(await fetch(`${url}${path}`, { headers }))
  await app.close()
  return all
}

const statuses = async (...args: Parameters<typeof responses>) =>
  (await responses(...args)).map(({ status }) => status)

const theirs = (limit: number, name?: string) =>
  ThrottlerModule.forRoot([{ ttl: 60_000, limit, ...(name === undefined ? {} : { name }) }])
const BOTH: Paths = [['/a'], ['/b']]
const ONE = { limit: 1, window: '1m' } as const
const keys = (key: string): [string, Record<string, string>] => ['/a', { 'x-api-key': key }]
const byKey = RateLimitModule.forRoot({ limits: [{ ...ONE, key: byHeader('x-api-key') }] })

/** The seconds that a client has to wait which was denied halfway through its window of two requests. */
async function waits(imports: DynamicModule): Promise<number> {
  const denied = (await responses(imports, Plain, [['/a'], ['/a'], ['/a']])).at(-1)
  return Number(denied?.headers.get('retry-after'))
}

async function namesOf(imports: DynamicModule): Promise<string[]> {
  const [first] = await responses(imports, Plain, [['/a']])
  return [...(first?.headers.keys() ?? [])].filter((name) => name.includes('ratelimit')).sort()
}

console.log(
  JSON.stringify({
    handlers: {
      theirs: await statuses(theirs(1), Plain, BOTH),
      ours: await statuses(RateLimitModule.forRoot(ONE), Plain, BOTH),
      byRoute: await statuses(RateLimitModule.forRoot({ ...ONE, key: [byIp(), byRoute()] }), Plain, BOTH),
    },
    decorators: {
      module: await statuses(byKey, Plain, [keys('ada'), keys('grace')]),
      decorated: await statuses(byKey, Decorated, [keys('ada'), keys('grace')]),
    },
    denials: {
      theirs: await waits(theirs(2)),
      ours: await waits(RateLimitModule.forRoot({ limit: 2, window: '1m' })),
    },
    headers: { theirs: await namesOf(theirs(9, 'short')), ours: await namesOf(RateLimitModule.forRoot(ONE)) },
  }),
)
