import { concurrency } from '../limiter/concurrency/policy.js'
import type { GivenPolicy } from '../limiter/read-limits.js'
import type { LimitSettings } from '../limiter/settings-document.js'
import { ban } from '../policies/ban.js'
import { consecutive } from '../policies/consecutive.js'
import { fixedWindow } from '../policies/fixed-window.js'
import { isPolicy, type Policy } from '../policies/policy.js'
import { policyFromSpec } from '../policies/policy-from-spec.js'
import { quota } from '../policies/quota.js'
import type { QuotaOptions } from '../policies/quota-options.js'
import { slidingLog } from '../policies/sliding-log.js'
import { slidingWindow } from '../policies/sliding-window.js'
import type { PolicySpec } from '../policies/spec.js'
import { tokenBucket } from '../policies/token-bucket.js'
import { messageOf } from '../stores/store-error.js'
import { durationMs } from '../util/durations.js'
import { thenMaybe } from '../util/maybe-promise.js'
import { weakMemo } from '../util/memo.js'
import { choice, wrongOption } from '../util/validate.js'
import type { Fields } from '../util/values.js'

/** The factories of policies, by their names in documents. */
const FACTORIES: Readonly<Record<string, (options: never) => Policy>> = {
  tokenBucket,
  slidingWindow,
  slidingLog,
  fixedWindow,
  quota: (options: QuotaOptions) => quota(options),
  consecutive,
  concurrency,
}

const OWNER = 'settings'

/**
 * Returns the policy that a document names. `path` is its place in the document. Throws a `TypeError` that
 * names the place.
 */
export function policyIn(path: string, { policy, ban: rules, ...options }: Fields): Policy {
  const readFactory = choice(...Object.keys(FACTORIES)) // at the top level, bundlers would keep all policies
  const name = readFactory(OWNER, `${path}.policy`, policy)
  if (options.name !== undefined)
    throw new TypeError(`${OWNER}: ${path}.name must be left out. The policy takes the name of its limit.`)
  const inner = atPath(path, () => FACTORIES[name]?.(options as never)) as Policy
  return rules === undefined ? inner : atPath(`${path}.ban`, () => ban(inner, rules as never))
}

/** Returns what `make` returns. Adds the place in the document to a `TypeError` that it throws. */
function atPath<T>(path: string, make: () => T): T {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const message = messageOf(error).replace(/^\w+: /, '')
    throw new TypeError(`${OWNER}: ${path}${/^[\w.]+ must /.test(message) ? '.' : ': '}${message}`)
  }
}

/**
 * Returns the policy of a limit by a document. `given` is the policy in the code, or the function that returns
 * it: other numbers keep its kind. Throws a `TypeError` if they do not fit that policy. If they do not fit what
 * the function returns, that applies as it is, and `onUnfit` gets the error.
 */
export function policyOf(
  path: string,
  settings: LimitSettings,
  given: GivenPolicy,
  onUnfit: (error: TypeError) => void,
): GivenPolicy {
  const policy =
    settings.policy === undefined
      ? withNumbers(path, settings, given, onUnfit)
      : policyIn(path, settings as unknown as Fields)
  const holdsUnits = isPolicy(given) && Boolean(given.holdsUnits)
  if (!isPolicy(policy) || Boolean(policy.holdsUnits) === holdsUnits) return policy
  const must = holdsUnits ? 'concurrency, as in the code' : 'a policy other than concurrency, as in the code'
  throw wrongOption(OWNER, `${path}.policy`, must, settings.policy, 'Change the policy in the code.')
}

function withNumbers(
  path: string,
  numbers: LimitSettings,
  given: GivenPolicy,
  onUnfit: (error: TypeError) => void,
): GivenPolicy {
  const { limit, window } = numbers as { limit?: number; window?: number | string }
  const lengthMs = window === undefined ? undefined : durationMs(OWNER, `${path}.window`, window)
  const change = (policy: Policy) => atPath(path, () => samePolicyWith(policy, limit, lengthMs))
  if (typeof given !== 'function') return change(given)
  const changed = weakMemo((policy: Policy): Policy => {
    try {
      return change(policy)
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      onUnfit(error)
      return policy
    }
  })
  return (subject) => thenMaybe(given(subject), (policy) => (isPolicy(policy) ? changed(policy) : policy))
}

/**
 * Returns a policy of the same kind with another limit, another window, or both. The window of a token
 * bucket is the time that an empty bucket takes to fill.
 */
function samePolicyWith(given: Policy, limit = given.limit, lengthMs?: number): Policy {
  const { spec } = given
  if (spec.kind === 'ban') {
    const inner = samePolicyWith(policyFromSpec(spec.base), limit, lengthMs)
    return policyFromSpec({ ...spec, base: inner.spec } as PolicySpec)
  }
  if (spec.kind === 'token-bucket') {
    const { kind: _kind, capacity: _capacity, intervalMs: _intervalMs, ...others } = spec
    const every = lengthMs ?? Math.max(1, Math.round(given.windowMs))
    return tokenBucket({ ...others, capacity: limit, refill: limit, every: `${every}ms` })
  }
  if (lengthMs === undefined && spec.kind === 'concurrency')
    return concurrency({ limit, ttl: `${spec.ttlMs}ms` })
  if (lengthMs === undefined) return policyFromSpec({ ...spec, limit } as PolicySpec)
  if ('windowMs' in spec) return policyFromSpec({ ...spec, limit, windowMs: lengthMs } as PolicySpec)
  throw new TypeError(`window must be left out, because ${spec.kind} has none. Write only limit.`)
}
