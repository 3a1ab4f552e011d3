import type { RateLimitOptions } from '../../http/options.js'
import { requestSteps } from '../../http/request-steps.js'
import { exchangeOptions } from './exchange-options.js'
import { checkCall, type RateLimit, withHandle } from './handle.js'
import { limitOf } from './limit.js'
import type { FetchInfo, FetchSubject, FetchTypes } from './options.js'
import { fetchWriter } from './response-writer.js'

/**
 * Creates a limiter for servers of the Fetch standard, such as Next.js, SvelteKit, Remix, Deno, Bun and
 * Workers.
 *
 * An allowed request resolves to `undefined`. A denied request resolves to a response:
 *
 * - 429 with `Retry-After` if it is over its limit,
 * - 403 if its IP address is in `block`,
 * - 503 if the store failed and `onStoreError` is `'deny'`.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 *
 * @example
 * ```ts
 * import { rateLimit } from 'headgate/fetch'
 *
 * const limit = rateLimit({ limit: 100, window: '1m' })
 * export async function GET(request: Request): Promise<Response> {
 *   const denial = await limit(request, { ip: request.headers.get('x-real-ip') })
 *   return denial ?? limit.finish(request, new Response('hello'))
 * }
 * ```
 */
export function rateLimit<Info extends FetchInfo = FetchInfo>(
  options: RateLimitOptions<FetchTypes<FetchSubject<Info>>>,
): RateLimit<Info> {
  const steps = requestSteps('rateLimit', exchangeOptions(options), fetchWriter)
  const { onDenied } = options
  const limit = limitOf<Info, FetchSubject<Info>>(steps, onDenied, ({ subject }) => subject, checkCall)
  return withHandle(steps.owner, limit)
}
