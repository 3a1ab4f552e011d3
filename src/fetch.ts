export type { FetchInfo, FetchSubject, RateLimitOptions } from './adapters/fetch/options.js'
export { type RateLimit, rateLimit } from './adapters/fetch/rate-limit.js'
export * from './http.js'
