import 'reflect-metadata'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import type { NestExpressApplication } from '@nestjs/platform-express'
import { type Contender, closeLater, sendTo } from '../contender.js'

// @nestjs/throttler requires Nest. Imported here, it would be another copy.
const require = createRequire(import.meta.url)
const { All, Controller, Module } = require('@nestjs/common') as typeof import('@nestjs/common')
const { APP_GUARD, NestFactory } = require('@nestjs/core') as typeof import('@nestjs/core')
const { ExpressAdapter } = require('@nestjs/platform-express') as typeof import('@nestjs/platform-express')
const { ThrottlerGuard, ThrottlerModule, ThrottlerStorageService } =
  require('@nestjs/throttler') as typeof import('@nestjs/throttler')

@Controller()
class HelloController {
  @All()
  hello(): string {
    return 'hello'
  }
}

export const nestThrottler: Contender = {
  name: '@nestjs/throttler',
  findsClients: true,
  denies: true,
  async limiter(limits) {
    const alone = limits.length === 1 ? {} : { blockDuration: 0 } // so that no block hides what a limit counts
    const throttlers = limits.map(({ name, limit, windowMs }) => ({ name, limit, ttl: windowMs, ...alone }))
    @Module({
      imports: [ThrottlerModule.forRoot(throttlers)],
      controllers: [HelloController],
      providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
    })
    class AppModule {}
    const settings = { logger: false, abortOnError: false } as const
    const app = await NestFactory.create<NestExpressApplication>(AppModule, new ExpressAdapter(), settings)
    app.set('trust proxy', 1)
    await app.listen(0, '127.0.0.1')
    closeLater(() => app.close())
    return sendTo((app.getHttpServer().address() as AddressInfo).port)
  },
  memory() {
    const storage = new ThrottlerStorageService()
    closeLater(() => storage.onApplicationShutdown())
    return (client) => storage.increment(client, 3_600_000, 10, 3_600_000, 'one')
  },
}
