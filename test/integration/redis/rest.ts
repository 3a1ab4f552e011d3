import type { Policy } from 'headgate'
import type { State } from 'headgate/store'
import type { Redis } from 'ioredis'
import { baseOf } from '../../../src/policies/spec.js'
import { serverTimeMs } from './connect.js'

/** Bucket times lie on a grid of 1/4096 ms. */
const GRID_MS = 1 / 4096
/** A server on a busy machine may take this long between reading its clock and writing. */
const BUSY_MS = 100
/** The longest window of a log in these tests. */
const LONGEST_LOG_MS = 30 * 86_400_000

/** A state as it lies in Redis: little-endian doubles. */
export function bytesOf(state: State): Buffer {
  const bytes = Buffer.alloc(8 * state.length)
  for (const [i, number] of state.entries()) bytes.writeDoubleLE(number, 8 * i)
  return bytes
}

export function stateOf(bytes: Buffer): State {
  return Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readDoubleLE(8 * i))
}

/** Returns a state without its last zeros, as most kinds are stored. */
export function withoutLastZeros(state: State | undefined): State | undefined {
  return state?.slice(0, state.findLastIndex((number) => number !== 0) + 1)
}

/** What lies in Redis under a key. */
export async function atRest(client: Redis, key: string): Promise<State | undefined> {
  const bytes = await client.getBuffer(key)
  return bytes === null ? undefined : stateOf(bytes)
}

/** Until when a ban remembers something. */
function rememberedUntilMs({ longestBanMs }: Policy, state: State): number {
  if (longestBanMs === undefined) return 0
  const [strikesUntilMs = 0, level = 0, bannedUntilMs = 0] = state.slice(-3)
  return Math.max(strikesUntilMs, level > 0 ? bannedUntilMs + longestBanMs : 0)
}

/** Until when the state of a policy, or of the one in a ban, is kept. */
function countedUntilMs(policy: Policy, [first = 0, second = 0, third = 0, fourth = 0, fifth = 0]: State) {
  switch (baseOf(policy.spec).kind) {
    case 'token-bucket': {
      const gridMs = (first * second) / 16
      return Math.ceil((third + fifth) / gridMs) * gridMs
    }
    case 'fixed-window':
    case 'first-request-window':
    case 'quota':
      return third + second
    case 'sliding-window':
      return ((fourth + third + 1) * second) / third
    default:
      return Number.NaN // the tests at rest use none of these
  }
}

/** Puts a state under a key, to expire as the store would have it. */
export async function putAtRest(client: Redis, key: string, policy: Policy, state: State): Promise<void> {
  const untilMs = Math.max(countedUntilMs(policy, state), rememberedUntilMs(policy, state))
  await client.set(key, bytesOf(state), 'PXAT', Math.ceil(untilMs))
}

/**
 * How much later than it must a state may expire: a sixteenth of a bucket's span, or, with counts from other
 * numbers, a window and a slice. A log expires by the longest window that has written to its key.
 */
function slackMs({ spec, windowMs }: Policy): number {
  const base = baseOf(spec)
  if (base.kind === 'token-bucket') return windowMs / 16 + 1
  if (base.kind === 'sliding-log') return LONGEST_LOG_MS
  return base.kind === 'sliding-window' ? (1 + 1 / base.slices) * windowMs + 1 : 1
}

/** Checks that a key holds this state, and expires when that equals a fresh one, rounded up. */
export async function expectAtRest(
  client: Redis,
  key: string,
  policy: Policy,
  state: State | undefined,
): Promise<void> {
  const held = await atRest(client, key)
  const expiresAtMs = await client.pexpiretime(key)
  const nowMs = await serverTimeMs(client)
  const { resetAfterMs } = policy.take(state, nowMs, 0)
  if (resetAfterMs === 0) return // fresh: whether it is still there makes no difference
  // Of a short window, what counted no more may have been dropped before the last charge. The figures are
  // the same.
  if (policy.windowMs < 60_000) expect(policy.take(held, nowMs, 0)).toEqual(policy.take(state, nowMs, 0))
  else expect({ key, held: withoutLastZeros(held) }).toEqual({ key, held: withoutLastZeros(state) })
  if (resetAfterMs === Number.POSITIVE_INFINITY) return expect(expiresAtMs).toBe(-1)
  const freshAtMs = nowMs + resetAfterMs
  expect(expiresAtMs - freshAtMs).toBeGreaterThanOrEqual(-GRID_MS)
  expect(expiresAtMs - freshAtMs).toBeLessThanOrEqual(BUSY_MS + slackMs(policy))
}
