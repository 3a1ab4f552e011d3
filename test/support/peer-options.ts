import { readFileSync } from 'node:fs'

/** The options of express-rate-limit 8, as its types declare them. */
export const EXPRESS_RATE_LIMIT = declaredIn(
  'express-rate-limit/dist/index.d.ts',
  /export type Options = \{(.*?)\n\};/gs,
)

/** The options of all that rate-limiter-flexible 11 exports, as its types declare them. */
export const RATE_LIMITER_FLEXIBLE = declaredIn(
  'rate-limiter-flexible/types.d.ts',
  /interface I(?:RateLimiter\w*(?<!Function)Options(?:AndSchema)?|RLWrapper\w*Options|RateLimiterQueueOpts)(?: extends [^{]*)? \{(.*?)\n\}/gs,
)

/** What express-slow-down 3 adds to express-rate-limit's options. */
export const EXPRESS_SLOW_DOWN = ['delayAfter', 'delayMs', 'maxDelayMs']

/** The options of @nestjs/throttler 6, as its types declare them. */
export const NEST_THROTTLER = declaredIn(
  '@nestjs/throttler/dist/throttler-module-options.interface.d.ts',
  /(?:interface ThrottlerOptions|type ThrottlerModuleOptions = Array<ThrottlerOptions> \|) \{(.*?)\n\}/gs,
)

/** The options of @fastify/rate-limit 11, as its types declare them. */
export const FASTIFY_RATE_LIMIT = declaredIn(
  '@fastify/rate-limit/types/index.d.ts',
  /interface (?:Create|)RateLimit(?:Plugin|)Options(?: extends [^{]*)? \{(.*?)\n {2}\}/gs,
)

/** The options of koa-ratelimit 6, as its types declare them. */
export const KOA_RATELIMIT = declaredIn(
  '@types/koa-ratelimit/index.d.ts',
  /interface MiddlewareOptions \{(.*?)\n {4}\}/gs,
)

/** What hono-rate-limiter 0.5 adds to express-rate-limit's options. */
export const HONO_RATE_LIMITER = ['binding', 'requestStorePropertyName']

/** The options of @upstash/ratelimit 2, as its types declare them. */
export const UPSTASH_RATELIMIT = declaredIn(
  '@upstash/ratelimit/dist/index.d.ts',
  /type RegionRatelimitConfig = \{(.*?)\n\};/gs,
)

/** The options of bottleneck 2, as its types declare them. */
export const BOTTLENECK = declaredIn(
  'bottleneck/bottleneck.d.ts',
  /type ConstructorOptions = \{(.*?)\n {8}\};/gs,
)

/** Options of earlier versions of express-slow-down and express-rate-limit. */
export const FORMER = ['trustProxy', 'onLimitReached']

function declaredIn(file: string, blocks: RegExp): readonly string[] {
  const text = readFileSync(`node_modules/${file}`, 'utf8')
  return [...text.matchAll(blocks)].flatMap(([, body = '']) =>
    [...body.matchAll(/^(?:\t| {4}| {8}| {12,}readonly )(\w+)\??(?:\(key: any\))?:/gm)].map(
      ([, name]) => name as string,
    ),
  )
}
