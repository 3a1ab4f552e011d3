import type { Period, PeriodAt } from '../../policies/calendar.js'
import type { Policy } from '../../policies/policy.js'
import { BASE_PARAMS, flattenSpec } from '../../policies/spec.js'
import { weakMemo } from '../../util/memo.js'
import { show } from '../../util/validate.js'
import { LUA_POLICIES } from './lua/policies.js'
import type { Script } from './lua/prelude.js'
import { singlePolicyScript } from './lua/single-policy.js'

/** A policy as scripts read it. */
export interface EncodedPolicy {
  readonly params: readonly string[]
  /** For scripts that read several policies. */
  readonly json: string
  /** The script for charges of this policy alone. */
  readonly script: Script
}

/**
 * Returns a policy as scripts read it, a quota with its periods around `atMs`: by default, around this
 * process's time. Throws a `TypeError` for a kind that scripts do not know.
 */
export function encodePolicy(policy: Policy, atMs?: number): EncodedPolicy {
  const { periodAt } = policy
  return periodAt === undefined ? encodeOnce(policy) : encodeQuota(policy, periodAt, atMs ?? Date.now())
}

const encodeOnce = weakMemo((policy: Policy) => encode(policy, flattenSpec(policy.spec).params))

const lastEncoded = /* @__PURE__ */ new WeakMap<Policy, { startsAtMs: number; encoded: EncodedPolicy }>()

/** Encodes a quota, once for each period. */
function encodeQuota(policy: Policy, periodAt: PeriodAt, atMs: number): EncodedPolicy {
  const period = periodAt(atMs)
  const last = lastEncoded.get(policy)
  if (last?.startsAtMs === period.startsAtMs) return last.encoded
  const [limit = 0, debt = 0, onChange = 0, ...rest] = flattenSpec(policy.spec).params
  const ofBan = rest.slice(BASE_PARAMS - 3) // behind the padding of the base policy's params
  const encoded = encode(policy, [limit, debt, onChange, ...startsAround(periodAt, period), ...ofBan])
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

function encode({ spec, width }: Policy, params: readonly number[]): EncodedPolicy {
  const { kind } = flattenSpec(spec)
  if (!Object.hasOwn(LUA_POLICIES, kind)) {
    const kinds = Object.keys(LUA_POLICIES).join(', ')
    throw new TypeError(`redisStore: a policy's kind must be one of ${kinds}, got ${show(kind)}.`)
  }
  const json = JSON.stringify([kind, width, ...params])
  return { params: params.map(String), json, script: singlePolicyScript(kind, width, params.length) }
}
