import { markIdentities, valueHash } from '../../keys/identity.js'
import { chargeOf, type Decision } from '../../limiter/decision.js'
import { type Limiter, limiterFrom } from '../../limiter/limiter.js'
import type { LimiterOptions } from '../../limiter/options.js'
import { type LimiterSettings, readLimiterOptions } from '../../limiter/parse-options.js'
import { fixedWindow } from '../../policies/fixed-window.js'
import { isMemoryStore } from '../../stores/memory/contract.js'
import type { Store as HeadgateStore, Part, Verdict } from '../../stores/store.js'
import { MAX_DURATION_MS } from '../../util/durations.js'
import { type MaybePromise, thenMaybe } from '../../util/maybe-promise.js'
import { wrongOption } from '../../util/validate.js'
import type { ClientRateLimitInfo, IncrementResponse, Store } from './types.js'

/** The most hits that are counted in one window. Each one is counted, those above the limit included. */
const MAX_HITS = 2 ** 31 - 1

/** A hit that was counted in a headgate store. */
export class Hit implements IncrementResponse {
  readonly #limiter: Limiter<string>
  readonly #decision: Decision
  readonly totalHits: number
  readonly resetTime: Date

  constructor(limiter: Limiter<string>, decision: Decision) {
    this.#limiter = limiter
    this.#decision = decision
    this.totalHits = MAX_HITS - decision.remaining
    this.resetTime = new Date(Date.now() + decision.resetAfterMs)
  }

  /** Takes the hit back in the window that counted it. */
  refund(): MaybePromise<void> {
    return this.#limiter.refund(this.#decision)
  }
}

/** Options of `hitCounter`. */
interface HitCounterOptions {
  readonly windowMs: number
  /** The limiter's name in keys. */
  readonly name?: string
}

/**
 * Creates a store of express-rate-limit that counts in a headgate store: each key in a fixed window from its
 * first hit. In memory a hit is counted synchronously. Before a remote store stand the limiter's deadline
 * and circuit breaker; calls reject with a `StoreError` where the store fails.
 *
 * Throws a `TypeError` if the store already serves a limiter of the same name.
 */
export function hitCounter(
  store: HeadgateStore,
  { windowMs, name }: HitCounterOptions,
): Required<Pick<Store, 'increment' | 'decrement' | 'resetKey' | 'get' | 'shutdown'>> & {
  readonly localKeys: boolean
} {
  const limiter = countingLimiter(store, windowOf(windowMs), name)

  return {
    localKeys: true, // of this limiter: names keep those of one store apart
    increment: (key) => thenMaybe(limiter.charge(String(key)), (decision) => new Hit(limiter, decision)),
    get: (key) => thenMaybe(limiter.peek(String(key)), infoOf),
    resetKey: (key) => limiter.forget(String(key)),
    shutdown: () => limiter.close(),
    async decrement(key) {
      const [part] = chargeOf(await limiter.peek(String(key))) as unknown as readonly [Part]
      const [{ atMs }] = (await store.charge([[part]])) as readonly [Verdict] // a peek, for the store's time
      await store.refund([{ ...part, cost: 1, takenAtMs: atMs }])
    },
  }
}

function infoOf({ remaining, resetAfterMs }: Decision): ClientRateLimitInfo | undefined {
  if (remaining === MAX_HITS) return undefined
  return { totalHits: MAX_HITS - remaining, resetTime: new Date(Date.now() + resetAfterMs) }
}

/** Returns whole milliseconds. Throws a `TypeError` for what is no length of a window. */
function windowOf(windowMs: unknown): number {
  if (typeof windowMs === 'number' && windowMs > 0 && windowMs <= MAX_DURATION_MS) return Math.ceil(windowMs)
  const must = 'a number of milliseconds above 0, of at most 10 years'
  throw wrongOption('rateLimit', 'windowMs', must, windowMs, 'Did you mean windowMs: 60 * 1000?')
}

function countingLimiter(store: HeadgateStore, windowMs: number, name: string | undefined): Limiter<string> {
  const policy = fixedWindow({ limit: MAX_HITS, window: `${windowMs}ms`, startsAt: 'first-request' })
  const key = markIdentities(isMemoryStore(store) ? asIs : valueHash(undefined))
  const options = {
    policy,
    key,
    store,
    denyCache: false,
    onStoreError: rethrow,
    ...(name && { name }),
  } as const
  const limiter = limiterFrom<string>('rateLimit', settingsOf(options))
  limiter.events.on('storeError', () => {}) // each charge rejects with its error
  return limiter
}

/** Reads a limiter's options. Errors about its name say `identifier`, which is where it comes from. */
function settingsOf(options: LimiterOptions<string>): LimiterSettings {
  try {
    return readLimiterOptions('rateLimit', options)
  } catch (error) {
    const { message } = error as TypeError
    throw new TypeError(message.replace(/\ba name\b/g, 'an identifier').replace(/\bname\b/g, 'identifier'))
  }
}

/** The memory store hashes keys itself, and keeps none. */
function asIs(key: string): string {
  return key
}

function rethrow(error: Error): never {
  throw error
}
