import { isSamePolicy, type Policy } from '../../policies/policy.js'
import { baseOf } from '../../policies/spec.js'
import { type Decision, LimiterDecision, type PartDecision } from '../decision.js'
import type { NamedPart } from '../receipt.js'

/** What the last charge of a key tells about the next. Times are those of `performance.now()`. */
export class KeyFigures {
  #last: PartDecision | undefined
  #policy: Policy | undefined
  #knownAtMs = 0
  /** Whether the figures still say what is left. */
  #areCurrent = false

  /** Records the figures of a charge under a policy; without figures, what is left is no longer known. */
  record(policy: Policy, figures: PartDecision | undefined): void {
    this.#areCurrent = figures !== undefined
    if (figures === undefined) return
    this.#last = figures
    this.#policy = policy
    this.#knownAtMs = performance.now()
  }

  /** Marks the figures as out of date, so that only the next charge can tell what is left. */
  expire(): void {
    this.#areCurrent = false
  }

  /**
   * Returns when a charge will be allowed: 0 if that is now, with `taken` units taken before it. A later time
   * does not count these. Returns `undefined` if the figures do not tell, because they are out of date or of
   * another policy, or because time alone brings no units back.
   */
  allowedAtMs(part: NamedPart, taken: number): number | undefined {
    const isKnown = this.#areCurrent && this.#policy !== undefined && isSamePolicy(this.#policy, part.policy)
    if (!isKnown || this.#last === undefined) return undefined
    const { allowed, cost, remaining } = this.#last
    if (part.cost <= remaining - taken && (allowed || part.cost < cost)) return 0
    const afterMs = allowedAfterMs(part, this.#last)
    return afterMs === Number.POSITIVE_INFINITY ? undefined : this.#knownAtMs + afterMs
  }

  /** Returns the denial of a charge that has to wait; `undefined` if there are no figures yet. */
  denialOf(part: NamedPart, untilMs: number): Decision | undefined {
    if (this.#last === undefined) return undefined
    const nowMs = performance.now()
    const leftMs = (afterMs: number) => Math.max(0, afterMs - (nowMs - this.#knownAtMs))
    const denied = {
      ...this.#last,
      cost: part.cost,
      allowed: false,
      resetAfterMs: leftMs(this.#last.resetAfterMs),
      retryAfterMs: Math.max(1, untilMs - nowMs),
      moreAfterMs: leftMs(this.#last.moreAfterMs),
    }
    return new LimiterDecision(denied, false, [denied], 'deny-cache', { parts: [part], isRefundable: false })
  }
}

/**
 * Returns how long until a charge is allowed: exact for token buckets, and never too long for other kinds.
 */
function allowedAfterMs({ policy, cost }: NamedPart, figures: PartDecision): number {
  const { allowed, limit, resetAfterMs, moreAfterMs, retryAfterMs } = figures
  if (!allowed && cost >= figures.cost) return retryAfterMs
  if (policy.spec.kind !== 'token-bucket' || policy.limit !== limit) return moreAfterMs
  return Math.max(moreAfterMs, resetAfterMs - (limit - cost) * policy.spec.intervalMs)
}

/** Returns how long a limit takes at most to restore the units of a charge. */
export function restoreMs({ policy, cost }: NamedPart): number {
  const base = baseOf(policy.spec)
  return base.kind === 'token-bucket' ? cost * base.intervalMs : (policy.ttlMs ?? policy.windowMs)
}
