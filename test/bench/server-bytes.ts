import assert from 'node:assert/strict'
import {
  byIp,
  consecutive,
  createLimiter,
  fixedWindow,
  type Limiter,
  type Policy,
  type Store,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import { keyText } from './contenders/keys.js'

export const KEYS = 100_000
/** What lies in the server then: a state for each key, and the document with the numbers of the limit. */
export const ITEMS = KEYS + 1
const TOGETHER = 1000

/** With windows that do not end in a run. */
export const POLICIES: Readonly<Record<string, Policy>> = {
  tokenBucket: tokenBucket({ capacity: 100, refill: 100, every: '1d' }),
  'slidingWindow, 10 slices': slidingWindow({ limit: 100, window: '1d' }),
  fixedWindow: fixedWindow({ limit: 100, window: '100d' }),
  'fixedWindow from the first request': fixedWindow({
    limit: 100,
    window: '100d',
    startsAt: 'first-request',
  }),
  consecutive: consecutive({ limit: 100 }),
}

/**
 * Charges each of 100,000 addresses once, with the keys of a limiter by address. Returns how much the
 * server's own figure of its memory has grown per key.
 */
export async function growthPerKey(
  store: Store,
  policy: Policy,
  memory: () => Promise<number>,
): Promise<number> {
  const limiter = createLimiter<object>({ name: 'api', store, policy, key: byIp(), timeout: 60_000 })
  await chargeAll(limiter, 0, 1) // the server keeps what is there once, such as a script
  const before = await memory()
  await chargeAll(limiter, 1, KEYS)
  return ((await memory()) - before) / (KEYS - 1)
}

async function chargeAll(limiter: Limiter<object>, from: number, to: number): Promise<void> {
  for (let i = from; i < to; i += TOGETHER) {
    const addresses = Array.from({ length: Math.min(TOGETHER, to - i) }, (_, j) => keyText(i + j))
    const charges = addresses.map((remoteAddress) => limiter.charge({ socket: { remoteAddress } }))
    for (const { source, remaining } of await Promise.all(charges)) {
      assert.ok(source === 'store' && remaining === 99, 'a charge was not counted by the server')
    }
  }
}
