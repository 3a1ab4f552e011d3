import assert from 'node:assert/strict'
import { byIp, concurrency, type Decision, type Policy } from 'headgate'
import { redisStore } from 'headgate/redis'
import { connect, headgateLimiter, headgateTwoLimits } from './redis-stores.js'
import { type Client, limiterOn, type MakeContender, slowBucket } from './server-contender.js'

type Charged = ReturnType<typeof limiterOn>
type Undo = (limiter: Charged, decision: Decision, subject: Client) => unknown

/**
 * An operation that undoes a charge. Charges go before, unmeasured; the keys must then have what they had
 * without them.
 */
const undone =
  (policyOf: (limit: number) => Policy, undo: Undo): MakeContender =>
  (url, limit) => {
    const limiter = limiterOn(redisStore(connect(url)), 'undone', { policy: policyOf(limit), key: byIp() })
    const charged = new Map<string, Decision[]>()
    const counts = new Map<string, number>()
    return {
      keyOf: (address) => address,
      async prepare(ip) {
        const decision = await limiter.charge({ ip })
        assert.equal(decision.source, 'store')
        charged.set(ip, [...(charged.get(ip) ?? []), decision])
      },
      async decide(ip) {
        await undo(limiter, charged.get(ip)?.pop() as Decision, { ip })
        counts.set(ip, (counts.get(ip) ?? 0) + 1)
        return true
      },
      async used(ip) {
        const { limit: all, remaining } = await limiter.peek({ ip })
        return (counts.get(ip) ?? 0) - (all - remaining)
      },
    }
  }

/** Makers of contenders that send one operation, and wait for it. */
export const LONE_OPERATIONS = {
  'one charge': headgateLimiter,
  'one charge of two limits': headgateTwoLimits,
  'one refund': undone(slowBucket, (limiter, decision) => limiter.refund(decision)),
  'one release': undone(
    (limit) => concurrency({ limit, ttl: '1h' }),
    (limiter, decision) => limiter.release(decision),
  ),
  'one forget': undone(slowBucket, (limiter, _decision, subject) => limiter.forget(subject)),
} as const satisfies Readonly<Record<string, MakeContender>>
