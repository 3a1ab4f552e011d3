import { ban } from './ban.js'
import { concurrency } from './concurrency.js'
import { consecutive } from './consecutive.js'
import { fixedWindow } from './fixed-window.js'
import { type BaseKind, type Policy, signatureOf } from './policy.js'
import { slidingWindow } from './sliding-window.js'
import { tokenBucketOf } from './token-bucket.js'

type Make = (...params: readonly number[]) => Policy

/** How to make a policy of its `params`. All are given: what a signature lacks is `NaN`. */
const MAKE: Readonly<Record<BaseKind | 'concurrency', Make>> = {
  'token-bucket': (capacity = NaN, intervalMs = NaN) => tokenBucketOf(capacity, intervalMs),
  'sliding-window': (limit = NaN, windowMs = NaN, slices = NaN) =>
    slidingWindow({ limit, window: `${windowMs}ms`, slices }),
  'fixed-window': (limit = NaN, windowMs = NaN) => fixedWindow({ limit, window: `${windowMs}ms` }),
  'first-request-window': (limit = NaN, windowMs = NaN) =>
    fixedWindow({ limit, window: `${windowMs}ms`, startsAt: 'first-request' }),
  consecutive: (limit = NaN) => consecutive({ limit }),
  concurrency: (limit = NaN, ttlMs = NaN) => concurrency({ limit, ttl: `${ttlMs}ms` }),
}

const SIGNATURE = new RegExp(`^(ban-)?(${Object.keys(MAKE).join('|')})((?:-\\d+(?:\\.\\d+)?){1,24})$`)

/** The params of a `ban` begin with those of its inner policy, padded to this length. */
const INNER_PARAMS = 3

/**
 * Returns the policy that has a signature, under a name made from its numbers: the inverse of `signatureOf`.
 * `undefined` for a text that is no policy's signature.
 */
export function policyOf(signature: string): Policy | undefined {
  const [, isBan, kind, numbers] = SIGNATURE.exec(signature) ?? []
  if (kind === undefined || numbers === undefined) return undefined
  const params = numbers.slice(1).split('-').map(Number)
  try {
    const make = MAKE[kind as keyof typeof MAKE]
    const policy = isBan === undefined ? make(...params) : banOf(make, params)
    return signatureOf(policy) === signature ? policy : undefined
  } catch (error) {
    if (error instanceof TypeError) return undefined // numbers that no policy has
    throw error
  }
}

function banOf(make: Make, params: readonly number[]): Policy {
  const inner = make(...params.slice(0, INNER_PARAMS))
  const [after = NaN, within = NaN, restarts = NaN, ...bansMs] = params.slice(INNER_PARAMS)
  return ban(inner, { after, within, for: bansMs, onAttempt: restarts === 1 ? 'restart' : 'nothing' })
}
