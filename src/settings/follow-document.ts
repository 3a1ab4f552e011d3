import { addressReaderAmong } from '../keys/source-address.js'
import type { ModeSwitch } from '../limiter/access-rules.js'
import { type ChargeSubject, type ResolveParts, subjectCharger } from '../limiter/bind-limit.js'
import type { LimiterCore } from '../limiter/core.js'
import { unchargedDecision } from '../limiter/decision.js'
import type { Entry } from '../limiter/read-limits.js'
import type { SettingsDocument } from '../limiter/settings-document.js'
import type { FollowedSettings, FollowingLimiter } from '../limiter/settings-source.js'
import type { Steps } from '../util/slices.js'
import type { Follower, Prepared, Settled } from './feed.js'
import { misfitErrors, skippedError, unknownLimits } from './misfits.js'
import { BLOCKED, ruledLimits } from './ruled-limits.js'
import { type DocumentRules, limitName, type Rules, ruleMaker } from './rules.js'

/** Where the document of a limiter comes from. */
export interface DocumentSource {
  follow(follower: Follower): () => void
  /** Each charge calls it on platforms where no timer runs between requests. */
  readonly pollIfDue: (() => void) | undefined
}

/** A core whose rules may change. */
interface RuledCore {
  readonly core: LimiterCore
  readonly waitingCore: LimiterCore
  apply(rules: Rules): void
}

/** Lets a limiter follow a document. A bundle contains this code only if the application uses settings. */
export function followDocument(
  { follow, pollIfDue }: DocumentSource,
  limiter: FollowingLimiter,
): FollowedSettings {
  const { settings, name } = limiter
  const { entries, modeSwitch } = settings
  const { embeddings } = addressReaderAmong(entries)
  const inForce = ruledCore(limiter.core, modeSwitch, pollIfDue)
  let candidate: RuledCore | undefined
  const onUnfit = ({ message }: TypeError) => limiter.onFailure(skippedError(name, [message]))
  const rulesOf = ruleMaker({ entries, name, embeddings, onUnfit })
  let latest: DocumentRules | undefined

  function* prepare(document: SettingsDocument): Steps<Prepared> {
    const rules = yield* rulesOf(document)
    return { misfits: rules.misfits, bringIntoForce: (settled) => apply(rules, settled) }
  }

  function apply(rules: DocumentRules, { document, version, change }: Settled): void {
    latest = rules
    inForce.apply(rules)
    limiter.onApplied({
      applied: { version, ...change },
      mode: document.mode,
      limitNames: changedNames(rules),
      entries: rules.entries,
      candidate: rules.candidate?.entries,
      overrides: document.overrides,
    })
    candidate?.apply(candidateRules(rules))
    for (const error of misfitErrors(name, rules.misfits)) limiter.onFailure(error)
    if (rules.unknownNames.length > 0)
      limiter.onFailure(
        unknownLimits(
          name,
          rules.unknownNames,
          entries.map((entry) => limitName(entry, name)),
        ),
      )
  }

  /** Returns the names of the limits that a document changes. */
  const changedNames = (rules: DocumentRules) =>
    entries.flatMap((entry, i) => (rules.entries[i]?.policy === entry.policy ? [] : [limitName(entry, name)]))

  /** The rules for the candidate in the document or, if it has none, for the candidate in the code. */
  const candidateRules = ({ candidate: own, overrides }: DocumentRules): Rules =>
    own ?? { entries: settings.candidate ?? [], overrides }

  return {
    core: inForce.core,
    waitingCore: inForce.waitingCore,
    ruleCandidate(core) {
      candidate = ruledCore(core, modeSwitch)
      if (latest !== undefined) candidate.apply(candidateRules(latest))
      return candidate.core
    },
    start: () => follow({ prepare, onFailure: limiter.onFailure }),
  }
}

/**
 * Creates a core that charges by the rules last given to `apply`. Before that, it behaves as the given core.
 */
function ruledCore(base: LimiterCore, modeSwitch: ModeSwitch, pollIfDue?: () => void): RuledCore {
  let resolveParts: ResolveParts = base.resolveParts
  let resolveCharge: ResolveParts = base.resolveParts
  let charge: ChargeSubject = base.charge

  const chargeParts: LimiterCore['chargeParts'] = (parts, subject, finish) =>
    parts === BLOCKED
      ? finish(unchargedDecision('blocked'), subject)
      : base.chargeParts(parts, subject, finish)

  const core: LimiterCore = {
    ...base,
    chargeParts,
    resolveParts: (subject, cost, names) => resolveParts(subject, cost, names),
    charge:
      pollIfDue === undefined
        ? (subject, cost, finish) => charge(subject, cost, finish)
        : (subject, cost, finish) => {
            pollIfDue()
            return charge(subject, cost, finish)
          },
  }
  return {
    core,
    waitingCore: { ...core, resolveParts: (subject, cost, names) => resolveCharge(subject, cost, names) },
    apply(rules) {
      const bound = bindAnew(base, rules.entries)
      const ruled = rules.overrides.isEmpty ? undefined : ruledLimits(rules, base.context, modeSwitch)
      resolveParts = ruled?.resolveParts ?? bound.resolveParts
      resolveCharge = ruled?.resolveCharge ?? bound.resolveParts
      charge = ruled ? subjectCharger(ruled.resolveCharge, chargeParts) : bound.charge
    },
  }
}

/** Binds the limits of a document. Inspection then no longer shows the limits of the previous document. */
function bindAnew({ bind, context }: LimiterCore, entries: readonly Entry[]) {
  const recorded = context.limits
  const before = new Map(recorded)
  const bound = bind(entries)
  for (const [id, limit] of before) if (recorded.get(id) === limit) recorded.delete(id)
  return bound
}
