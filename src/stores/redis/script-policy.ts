import type { Period, PeriodAt } from '../../policies/calendar.js'
import type { Policy } from '../../policies/policy.js'
import { baseOf, type KindName, kindOf } from '../../policies/spec.js'
import { weakMemo } from '../../util/memo.js'
import { show } from '../../util/validate.js'
import { PERIODS } from './lua/counts.js'
import { LUA_KINDS } from './lua/kinds.js'

/** A policy as scripts read it. */
export interface ScriptPolicy {
  readonly kind: KindName
  /** Its numbers in ARGV. */
  readonly params: readonly string[]
}

/**
 * Returns a policy as scripts read it, a quota with its periods around `atMs`: by default, around this
 * process's time. Throws a `TypeError` for a kind that scripts do not know.
 */
export function scriptPolicy(policy: Policy, atMs?: number): ScriptPolicy {
  const { periodAt } = policy
  return periodAt === undefined ? encodeOnce(policy) : encodeQuota(policy, periodAt, atMs ?? Date.now())
}

const encodeOnce = weakMemo((policy: Policy) => encode(policy, {}))

const lastEncoded = /* @__PURE__ */ new WeakMap<Policy, { startsAtMs: number; encoded: ScriptPolicy }>()

/** Encodes a quota, once for each period. */
function encodeQuota(policy: Policy, periodAt: PeriodAt, atMs: number): ScriptPolicy {
  const period = periodAt(atMs)
  const last = lastEncoded.get(policy)
  if (last?.startsAtMs === period.startsAtMs) return last.encoded
  const starts = startsAround(periodAt, period)
  const encoded = encode(policy, Object.fromEntries(PERIODS.map((name, i) => [name, starts[i] ?? 0])))
  lastEncoded.set(policy, { startsAtMs: period.startsAtMs, encoded })
  return encoded
}

/** Returns the starts of the period before one, of the period itself, and of the three after it. */
function startsAround(periodAt: PeriodAt, period: Period): readonly number[] {
  const next = periodAt(period.endsAtMs)
  const afterNext = periodAt(next.endsAtMs)
  const before = periodAt(period.startsAtMs - 1)
  return [before, period, next, afterNext].map(({ startsAtMs }) => startsAtMs).concat(afterNext.endsAtMs)
}

function encode({ spec }: Policy, periods: Readonly<Record<string, number>>): ScriptPolicy {
  const kind = kindOf(spec)
  if (!Object.hasOwn(LUA_KINDS, kind)) {
    const kinds = Object.keys(LUA_KINDS).join(', ')
    throw new TypeError(`redisStore: a policy's kind must be one of ${kinds}, got ${show(kind)}.`)
  }
  const fields: Readonly<Record<string, unknown>> = { ...baseOf(spec), ...periods }
  const params = Object.keys(LUA_KINDS[kind].params).map((field) => String(fields[field] ?? 0))
  if (spec.kind !== 'ban') return { kind, params }
  const { after, withinMs, onAttempt, bansMs } = spec
  const ofBan = [after, withinMs, onAttempt === 'restart' ? 1 : 0, bansMs.length, ...bansMs]
  return { kind, params: [...params, ...ofBan.map(String)] }
}
