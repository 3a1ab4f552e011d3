import {
  type ArgumentsHost,
  type CanActivate,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  HttpException,
  Inject,
  Injectable,
  Module,
  Req,
  UseFilters,
  UseGuards,
} from '@nestjs/common'
import type { Request, Response } from 'express'
import { adjustments, ban, byIp, byRoute, byUser, memoryStore, type Store, slidingLog } from 'headgate'
import { RateLimit, RateLimiters, RateLimitGuard, RateLimitModule, SkipRateLimit } from 'headgate/nest'

const STORE = Symbol('store')

@Module({
  providers: [{ provide: STORE, useFactory: () => memoryStore({ clock: () => 0 }) }],
  exports: [STORE],
})
class StoreModule {}

/** Limited together by the options of the module. */
@Controller('shared')
class SharedController {
  @Get('first')
  first(@Req() req: Request): unknown {
    return { remaining: req.rateLimit?.remaining }
  }

  @Get('second')
  second(@Req() req: Request): unknown {
    return { remaining: req.rateLimit?.remaining }
  }

  @Get('skipped')
  @SkipRateLimit()
  skipped(@Req() req: Request): unknown {
    return { isLimited: req.rateLimit !== undefined }
  }
}

/** Limited together, except for the handler with a decorator of its own. */
@Controller('own')
@RateLimit({ limit: 2, window: '1m' })
class OwnController {
  @Get('first')
  first(): string {
    return 'first'
  }

  @Get('second')
  second(): string {
    return 'second'
  }

  @Get('handler')
  @RateLimit({ limit: 1, window: '1m' })
  handler(): string {
    return 'handler'
  }

  @Get('skipped')
  @SkipRateLimit()
  skipped(): string {
    return 'skipped'
  }
}

@Controller('inherited')
class InheritedController extends OwnController {}

@Controller('routes')
@RateLimit({ limit: 1, window: '1m', key: [byIp(), byRoute()] })
class RoutesController {
  @Get('first')
  first(): string {
    return 'first'
  }

  @Get('second')
  second(): string {
    return 'second'
  }
}

@Injectable()
class AuthGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const req = context.switchToHttp().getRequest<Request>()
    Object.assign(req, { user: { id: req.get('x-user') } })
    return true
  }
}

/** A filter as many applications have one: it knows Nest's own exceptions, and answers 500 to all others. */
@Catch()
class CatchAllFilter implements ExceptionFilter {
  catch(exception: unknown, host: ArgumentsHost): void {
    const status = exception instanceof HttpException ? exception.getStatus() : 500
    const message = exception instanceof Error ? exception.message : 'unknown'
    host.switchToHttp().getResponse<Response>().status(status).json({ status, message })
  }
}

@Controller('filtered')
@UseFilters(CatchAllFilter)
class FilteredController {
  @Get('exception')
  @RateLimit({
    limit: 1,
    window: '1m',
    exception: ({ message, status }) => new HttpException(message, status),
  })
  exception(): string {
    return 'exception'
  }
}

@Controller('limiters')
@SkipRateLimit()
class LimitersController {
  @Inject(RateLimiters) private readonly limiters!: RateLimiters

  @Get('forget')
  async forget(@Req() req: Request): Promise<unknown> {
    const names = ['OwnController.handler', 'OwnController', 'Nobody']
    const [handler, all, nobody] = names.map((name) => this.limiters.get(name))
    if (handler !== undefined) await adjustments(handler).forget(req)
    return {
      hasDefault: this.limiters.default !== undefined,
      areTwo: handler !== all,
      nobody: nobody ?? null,
    }
  }
}

/** An application with a limit for all routes, whose options come from a factory. */
@Module({
  imports: [
    RateLimitModule.forRootAsync({
      imports: [StoreModule],
      inject: [STORE],
      useFactory: async (store: Store) => ({
        limit: 3,
        window: '1m',
        store,
        name: 'app',
        resetFormat: 'delta-seconds' as const,
      }),
    }),
  ],
  controllers: [
    SharedController,
    OwnController,
    InheritedController,
    RoutesController,
    FilteredController,
    LimitersController,
  ],
})
export class GlobalModule {}

@Controller('users')
@UseGuards(AuthGuard, RateLimitGuard)
class UsersController {
  @Get()
  find(): string {
    return 'found'
  }
}

@Controller('free')
class FreeController {
  @Get()
  find(): string {
    return 'found'
  }
}

/** Requests that wait until another request releases them. */
@Controller('undecided')
@RateLimit({
  policy: ban(slidingLog({ limit: 2, window: '30m' }), { after: 1, within: '1h', for: '1h' }),
  count: 'failed',
  key: byIp(),
})
@UseGuards(RateLimitGuard)
class UndecidedController {
  readonly #waiting: (() => void)[] = []

  @Get('wait')
  wait(): Promise<string> {
    return new Promise((resolve) => this.#waiting.push(() => resolve('done')))
  }

  @Get('release')
  @SkipRateLimit()
  release(): string {
    const released = this.#waiting.splice(0)
    for (const each of released) each()
    return String(released.length)
  }
}

/** An application whose guard stands where `@UseGuards` puts it. */
@Module({
  imports: [
    RateLimitModule.forRoot({
      limit: 1,
      window: '1m',
      store: memoryStore({ clock: () => 0 }),
      key: byUser(),
      global: false,
    }),
  ],
  controllers: [UsersController, FreeController, UndecidedController],
})
export class LocalModule {}
