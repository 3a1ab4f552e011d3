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

/** Options of earlier versions of express-slow-down and express-rate-limit. */
export const FORMER = ['trustProxy', 'onLimitReached']

function declaredIn(file: string, blocks: RegExp): readonly string[] {
  const text = readFileSync(`node_modules/${file}`, 'utf8')
  return [...text.matchAll(blocks)].flatMap(([, body = '']) =>
    [...body.matchAll(/^(?:\t| {4})(\w+)\??(?:\(key: any\))?:/gm)].map(([, name]) => name as string),
  )
}
