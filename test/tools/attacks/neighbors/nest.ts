import 'reflect-metadata'
import type { NestFactory } from '@nestjs/core'
import type { FastifyAdapter } from '@nestjs/platform-fastify'
import { loginGuard } from 'headgate/nest'
import { nestSiteModule } from '../adapters/nest-site.js'
import type { Listen, SiteContext } from './server.js'

export async function listenOnNest(
  platform: 'express' | 'fastify',
  { load, options }: SiteContext,
): Promise<Listen> {
  const { NestFactory: Factory } = load<{ NestFactory: typeof NestFactory }>('@nestjs/core')
  const siteModule = () => nestSiteModule((mount) => loginGuard(options(mount) as never))
  return async () => {
    const adapter =
      platform === 'fastify'
        ? [new (load<{ FastifyAdapter: typeof FastifyAdapter }>('@nestjs/platform-fastify').FastifyAdapter)()]
        : []
    const app = await Factory.create(siteModule(), ...(adapter as []), { logger: ['error'] })
    await app.listen(0, '::1')
    return app.getHttpServer().address().port
  }
}
