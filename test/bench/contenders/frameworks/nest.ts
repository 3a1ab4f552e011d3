import 'reflect-metadata'
import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import type { DynamicModule } from '@nestjs/common'
import type { AbstractHttpAdapter } from '@nestjs/core'
import { RateLimitModule } from 'headgate/nest'
import type { FrameworkContenders } from './contender.js'

// @nestjs/throttler requires Nest, whose modules are ES modules: imported here, they would be there twice.
const require = createRequire(import.meta.url)
const { Controller, Get, Module }: typeof import('@nestjs/common') = require('@nestjs/common')
const { APP_GUARD, NestFactory }: typeof import('@nestjs/core') = require('@nestjs/core')
const { ThrottlerGuard, ThrottlerModule }: typeof import('@nestjs/throttler') = require('@nestjs/throttler')

class Hello {
  say(): string {
    return 'hello'
  }
}
class App {}

// What decorators do: the benchmarks are compiled without them.
Controller()(Hello)
Get()(Hello.prototype, 'say', Object.getOwnPropertyDescriptor(Hello.prototype, 'say') as PropertyDescriptor)
Module({})(App)

export const NEST_EXPRESS = contendersOn(() => {
  const { ExpressAdapter }: typeof import('@nestjs/platform-express') = require('@nestjs/platform-express')
  return new ExpressAdapter()
})
export const NEST_FASTIFY = contendersOn(() => {
  const { FastifyAdapter }: typeof import('@nestjs/platform-fastify') = require('@nestjs/platform-fastify')
  return new FastifyAdapter()
})

function contendersOn(createAdapter: () => AbstractHttpAdapter): FrameworkContenders {
  return {
    nothing: () => serve(createAdapter(), {}),
    headgate: ({ limit, windowMs: window }) =>
      serve(createAdapter(), { imports: [RateLimitModule.forRoot({ limit, window })] }),
    usual: ({ limit, windowMs: ttl }) =>
      serve(createAdapter(), {
        imports: [ThrottlerModule.forRoot([{ limit, ttl }])],
        providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
      }),
  }
}

async function serve(adapter: AbstractHttpAdapter, module: Omit<DynamicModule, 'module'>): Promise<Server> {
  const root = { module: App, controllers: [Hello], ...module }
  const app = await NestFactory.create(root, adapter, { logger: false, abortOnError: false })
  await app.init()
  await (adapter.getInstance() as { ready?(): PromiseLike<unknown> }).ready?.()
  return app.getHttpServer() as Server
}
