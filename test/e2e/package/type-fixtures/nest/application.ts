// What applications of Nest write: requests of any platform, or those that a callback is annotated with.
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  byField,
  byIp,
  byRoute,
  type LoginGuardOptions,
  loginGuard,
  type MiddlewareLimiter,
  type OverloadGuardOptions,
  overloadGuard,
  RateLimit,
  RateLimitModule,
  type RateLimitModuleOptions,
  SkipRateLimit,
} from 'headgate/nest'

const limit = { limit: 2, window: '1h' } as const

interface PlatformRequest extends IncomingMessage {
  tenant: { id: string; trusted: boolean }
}

class Controller {
  @RateLimit({ ...limit, key: [byIp(), byField('username'), byRoute()] })
  login(): void {}

  @RateLimit({ skip: (req) => req.url === '/health', exception: (exception) => exception.getStatus() })
  health(): void {}

  @RateLimit({
    ...limit,
    key: (req: PlatformRequest) => req.tenant.id,
    skip: (req) => req.tenant.trusted,
    count: (_req, res: ServerResponse) => res.statusCode >= 400,
  })
  tenant(): void {}

  @SkipRateLimit()
  open(): void {}
}

const guard = loginGuard({
  account: (req) => req.headers.authorization,
  exception: (_exception, context) => context.getType(),
})
const tenantGuard = loginGuard({ account: (req: PlatformRequest) => req.tenant.id })
guard.events.on('security', (event, req) => console.log(event.event, req.ip))
tenantGuard.events.on('security', (_event, req) => console.log(req.tenant.id))

const overload = overloadGuard({
  priority: (req) => (req.url === '/pay' ? 'critical' : undefined),
  exception: (exception, context) => [exception.getStatus(), context.getType()],
})
export const running = overload.status().running
export const overloadOptions: OverloadGuardOptions<PlatformRequest> = { tenant: (req) => req.tenant.id }
export const perTenant = overloadGuard({
  tenant: (req: PlatformRequest) => req.tenant.id,
  routeClass: (req, res: ServerResponse) => `${req.method} ${res.statusCode}`,
})

const options: RateLimitModuleOptions = { ...limit, skip: (req) => req.ip === '127.0.0.1', global: false }
export const guardOptions: LoginGuardOptions<PlatformRequest> = { account: (req) => req.tenant.id }
export const limiter: MiddlewareLimiter<PlatformRequest> = tenantGuard.limiter
export const modules = [
  RateLimitModule.forRoot(options),
  RateLimitModule.forRoot({ ...limit, skip: (req: PlatformRequest) => req.tenant.trusted }),
  RateLimitModule.forRootAsync({ useFactory: async () => options }),
  Controller,
]

export const mistakes = [
  // @ts-expect-error: there is no such option
  () => RateLimit({ ...limit, max: 2 }),
  // @ts-expect-error: exception replaces it
  () => RateLimit({ ...limit, onDenied: () => undefined }),
  // @ts-expect-error: not every platform has this method
  () => RateLimitModule.forRoot({ ...limit, skip: (req) => req.get('x-admin') === 'yes' }),
  // @ts-expect-error: there is no such option
  () => loginGuard({ feild: 'username' }),
]
