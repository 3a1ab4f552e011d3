import type { RateLimitOptions } from '../../http/options.js'
import { requestSteps } from '../../http/request-steps.js'
import { exchangeOptions } from './exchange-options.js'
import { limitOf, type RateLimit } from './limit.js'
import type { FetchInfo, FetchSubject, FetchTypes } from './options.js'
import { fetchWriter } from './response-writer.js'

/**
 * Creates a limiter for servers of the Fetch standard: Hono, Next.js, SvelteKit, Remix, Deno, Bun, Workers.
 * It responds 429 with `Retry-After` when a request is over its limit, 403 when its address is in `block`,
 * 503 when the store failed and `onStoreError` is `'deny'`.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 */
export function rateLimit<Info extends FetchInfo = FetchInfo>(
  options: RateLimitOptions<FetchTypes<FetchSubject<Info>>>,
): RateLimit<Info> {
  const steps = requestSteps('rateLimit', exchangeOptions(options), fetchWriter)
  return limitOf<Info, FetchSubject<Info>>('rateLimit', steps, options.onDenied, ({ subject }) => subject)
}
