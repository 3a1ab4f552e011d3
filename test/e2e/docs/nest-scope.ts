/** What the cells of tables about Nest may name, beside what packages export: see `row-kinds.ts`. */
import {
  All,
  Controller,
  type DynamicModule,
  type MiddlewareConsumer,
  Module,
  type NestModule,
  type Type,
} from '@nestjs/common'
import { APP_GUARD, NestFactory } from '@nestjs/core'
import {
  ThrottlerGuard,
  ThrottlerModule,
  type ThrottlerModuleOptions,
  type ThrottlerOptions,
  type ThrottlerStorage,
  ThrottlerStorageService,
} from '@nestjs/throttler'
import type { NextFunction, Request, Response } from 'express'

/** In place of a `ThrottlerStorageRedisService`, whose package is not installed. */
export const redisStorage: ThrottlerStorage = new ThrottlerStorageService()

@Controller()
class HelloController {
  @All()
  hello(): string {
    return 'hello'
  }
}

/** Serves a controller in an application with these modules, in which everybody is signed in as Ada. */
export async function serve(imports: DynamicModule[], controller: Type = HelloController): Promise<void> {
  @Module({ imports, controllers: [controller] })
  class AppModule implements NestModule {
    configure(consumer: MiddlewareConsumer): void {
      consumer.apply(signIn).forRoutes('{*path}')
    }
  }
  const app = await NestFactory.create(AppModule, { logger: false, abortOnError: false })
  await app.listen(3000)
}

function signIn(req: Request, _res: Response, next: NextFunction): void {
  Object.assign(req, { user: { id: 'ada', plan: 'free' } })
  next()
}

type Options = Partial<ThrottlerOptions & Extract<ThrottlerModuleOptions, { throttlers: unknown }>>

/** Serves a controller behind a guard of @nestjs/throttler. */
export async function throttle(
  options: Options,
  guard: Type<ThrottlerGuard> = ThrottlerGuard,
): Promise<void> {
  const throttlers = [{ ttl: 60_000, limit: 1, ...options }]
  const throttler = ThrottlerModule.forRoot({ throttlers, ...options })
  const providers = [...(throttler.providers ?? []), { provide: APP_GUARD, useClass: guard }]
  await serve([{ ...throttler, providers }])
}
