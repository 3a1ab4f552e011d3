import type { UsedUpstash } from '../integration/upstash/use-upstash.js'
import type { StartOptions } from './runtimes.js'

/** Returns what applications of `stores/upstash.ts` are started with. */
export function optionsFor({ rest: { url, token } }: UsedUpstash): StartOptions {
  return { env: { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token } }
}
