import { peerAddress } from '../keys/connection.js'
import { memoryInternalsOf } from '../stores/memory/contract.js'
import type { PartVerdict, Verdict } from '../stores/operation.js'
import { asStoreError, type StoreError } from '../stores/store-error.js'
import { isPromise, type MaybePromise } from '../util/maybe-promise.js'
import {
  ChargeDecision,
  type Decision,
  type NamedPart,
  partDecision,
  type Report,
  type Taken,
} from './decision.js'
import type { holdingsOf, Keeper } from './holdings.js'
import type { Apply } from './ledger.js'
import type { LimiterSettings } from './parse-options.js'
import { type Limit, limitReader, partOf } from './read-limit.js'
import { denyDisconnected, UNLIMITED } from './uncharged-decision.js'

/** What a limiter does with a direct decision: its units, what it holds, and its failure. */
interface DirectOptions {
  readonly units: Keeper
  readonly hold: ReturnType<typeof holdingsOf>['hold']
  readonly decideWithout: (
    error: StoreError,
    parts: readonly NamedPart[],
    subject: unknown,
  ) => MaybePromise<Decision>
}

/**
 * Creates the function that decides for a limiter of one limit in memory, the most common one: it passes the
 * identity and the cost straight to the policy, without building a charge, a verdict or a key. Returns
 * `undefined` for other limiters.
 */
export function directDecider(
  { entries, context, store }: LimiterSettings,
  { units, hold, decideWithout }: DirectOptions,
): ((subject: unknown, cost: number | undefined, report: Report) => MaybePromise<Decision>) | undefined {
  const memory = memoryInternalsOf(store)
  const [entry, ...others] = entries
  if (memory === undefined || entry === undefined || others.length > 0) return undefined

  const decide = limitReader<Decision>(entry, context, (limit) => {
    const { policy, beginning } = limit
    const { now, take } = memory.limitOf(policy, beginning)
    const isHeld = policy.holdsUnits
    return function decideDirectly(identity, cost, subject) {
      let nowMs: number
      let verdict: PartVerdict
      try {
        nowMs = now()
        verdict = take(identity, nowMs, cost)
      } catch (cause) {
        return decideWithout(asStoreError(store.name, cause), [partOf(limit, identity, cost)], subject)
      }
      const taken = new DirectTaken(limit, identity, cost, nowMs, verdict, units)
      const parts = [partDecision(limit, cost, verdict)]
      const decision = new ChargeDecision(parts, verdict.allowed, 'store', taken)
      return isHeld ? hold(decision, taken.charge, taken.verdict, units) : decision
    }
  })
  return function decideFor(subject, cost, report) {
    const decision = decide(subject, cost)
    if (!isPromise(decision)) return report(decision ?? UNLIMITED, subject)
    peerAddress(subject) // Node.js remembers it now
    return decision.then(
      (known) => report(known ?? UNLIMITED, subject),
      (error) => report(denyDisconnected(error), subject),
    )
  }
}

/** What a direct decision took. Its charge and its verdict are built only for a refund or `forget`. */
class DirectTaken implements Taken {
  constructor(
    readonly limit: Limit,
    readonly identity: string,
    readonly cost: number,
    readonly atMs: number,
    readonly part: PartVerdict,
    readonly units: Keeper,
  ) {}

  get charge(): readonly NamedPart[] {
    return [partOf(this.limit, this.identity, this.cost)]
  }

  get apply(): Apply {
    return this.units.apply
  }

  get verdict(): Verdict {
    return { type: 'charge', allowed: this.part.allowed, atMs: this.atMs, parts: [this.part] }
  }
}
