import type { Policy } from 'headgate'
import type { State } from 'headgate/store'
import type { Redis } from 'ioredis'
import { baseOf } from '../../../src/policies/spec.js'
import { stateIn } from '../../../src/stores/redis/stored-state.js'
import { serverTimeMs } from './connect.js'

/** Bucket times lie on a grid of 1/4096 ms. */
const GRID_MS = 1 / 4096
/** A server on a busy machine may take this long between reading its clock and writing. */
const BUSY_MS = 100
/** A state as it lies in Redis: little-endian doubles, of which the first is when the key expires. */
export function bytesOf(expiresAtMs: number, state: State): Buffer {
  const bytes = Buffer.alloc(8 + 8 * state.length)
  for (const [i, number] of [expiresAtMs, ...state].entries()) bytes.writeDoubleLE(number, 8 * i)
  return bytes
}

/** What lies in Redis under a key. */
export async function atRest(client: Redis, key: string): Promise<State | undefined> {
  const bytes = await client.getBuffer(key)
  return bytes === null ? undefined : stateIn(bytes)
}

/** Puts a state under a key, without an expiry. */
export async function putAtRest(client: Redis, key: string, state: State): Promise<void> {
  await client.set(key, bytesOf(Number.POSITIVE_INFINITY, state))
}

/** How much later than it must a state may expire: a sixteenth of a bucket's span, or a window and a slice. */
function slackMs({ spec, windowMs }: Policy): number {
  const base = baseOf(spec)
  if (base.kind === 'token-bucket') return windowMs / 16 + 1
  return base.kind === 'sliding-window' ? (1 + 1 / base.slices) * windowMs + 1 : 1
}

/**
 * Checks that a key holds this state, and expires when that equals a fresh one, rounded up. A refund keeps the
 * expiry, so the key may then expire later.
 */
export async function expectAtRest(
  client: Redis,
  key: string,
  policy: Policy,
  state: State | undefined,
  isRefunded = false,
): Promise<void> {
  const held = await atRest(client, key)
  const expiresAtMs = await client.pexpiretime(key)
  const nowMs = await serverTimeMs(client)
  const { resetAfterMs } = policy.take(state, nowMs, 0)
  if (resetAfterMs === 0) return // fresh: whether it is still there makes no difference
  // Of a short window, what counted no more may have been dropped before the last charge. The figures are
  // the same.
  if (policy.windowMs < 60_000) expect(policy.take(held, nowMs, 0)).toEqual(policy.take(state, nowMs, 0))
  else expect({ key, held }).toEqual({ key, held: state })
  if (resetAfterMs === Number.POSITIVE_INFINITY) return expect(expiresAtMs).toBe(-1)
  const freshAtMs = nowMs + resetAfterMs
  expect(expiresAtMs - freshAtMs).toBeGreaterThanOrEqual(-GRID_MS)
  if (!isRefunded) expect(expiresAtMs - freshAtMs).toBeLessThanOrEqual(BUSY_MS + slackMs(policy))
}
