import { createCandidate } from '../limiter/candidate/candidate.js'
import type { BoundLimits, LimiterCore } from '../limiter/core.js'
import { bindLimits } from '../limiter/create-core.js'
import type { Entry } from '../limiter/read-limits.js'
import type { SettingsDocument } from '../limiter/settings-document.js'
import type { FollowedSettings, FollowingLimiter } from '../limiter/settings-source.js'
import { isPolicy } from '../policies/policy.js'
import type { Steps } from '../util/slices.js'
import { describeInForce, type RulesInForce } from './describe-in-force.js'
import type { Follower, Prepared, Settled } from './feed.js'
import { skippedError, unknownLimits } from './misfits.js'
import { ruledLimits } from './ruled-limits.js'
import { type DocumentRules, limitName, type Rules, ruleMaker } from './rules.js'

/**
 * Lets a limiter follow a document, once `follow` is called. A bundle contains this code only if the
 * application uses settings.
 */
export function followDocument(
  follow: (follower: Follower) => () => void,
  limiter: FollowingLimiter,
): FollowedSettings {
  const { core } = limiter
  const { settings } = core
  const { entries, context } = settings
  const { name = '' } = context
  const { embeddings } = context.reader
  let candidate: LimiterCore | undefined
  const onUnfit = ({ message }: TypeError) => limiter.onFailure(skippedError(name, [message]))
  const rulesOf = ruleMaker({ entries, name, embeddings, onUnfit })
  let latest: DocumentRules | undefined
  let inForce: RulesInForce | undefined
  let candidateId = idOf(settings.candidate)

  function* prepare(document: SettingsDocument): Steps<Prepared> {
    const rules = yield* rulesOf(document)
    return { misfits: rules.misfits, bringIntoForce: (settled) => apply(rules, settled) }
  }

  function apply(rules: DocumentRules, { document, version, change }: Settled): void {
    latest = rules
    applyRules(core, rules)
    inForce = {
      applied: { version, ...change },
      mode: document.mode,
      limitNames: changedNames(rules),
      entries: rules.entries,
      candidate: rules.candidate?.entries,
      overrides: document.overrides,
    }
    limiter.onRulesChanged()
    useCandidate(inForce.candidate ?? settings.candidate)
    limiter.onApplied(inForce.applied)
    if (candidate !== undefined) applyRules(candidate, candidateRules(rules))
    const problems = rules.misfits.map(({ problem }) => problem)
    if (problems.length > 0) limiter.onFailure(skippedError(name, problems))
    if (rules.unknownNames.length > 0)
      limiter.onFailure(
        unknownLimits(
          name,
          rules.unknownNames,
          entries.map((entry) => limitName(entry, name)),
        ),
      )
  }

  function useCandidate(candidateEntries: readonly Entry[] | undefined): void {
    const id = idOf(candidateEntries)
    if (id === candidateId) return
    candidateId = id
    limiter.useCandidate(candidateEntries)
  }

  /** Returns the names of the limits that a document changes. */
  const changedNames = (rules: DocumentRules) =>
    entries.flatMap((entry, i) => (rules.entries[i]?.policy === entry.policy ? [] : [limitName(entry, name)]))

  /** The rules for the candidate in the document or, if it has none, for the candidate in the code. */
  const candidateRules = ({ candidate: own, overrides }: DocumentRules): Rules =>
    own ?? { entries: settings.candidate ?? [], overrides }

  return {
    createCandidate,
    ruleCandidate(candidateCore) {
      candidate = candidateCore
      if (latest !== undefined) applyRules(candidate, candidateRules(latest))
    },
    mode: () => inForce?.mode,
    describe: (description) => (inForce ? describeInForce(description, inForce) : description),
    start: () => follow({ prepare, onFailure: limiter.onFailure }),
  }
}

/** Returns a text that identifies the limits of a candidate. */
function idOf(entries: readonly Entry[] | undefined): string {
  return JSON.stringify(
    entries?.map(({ entryName, policy }) => [entryName, isPolicy(policy) ? policy.spec : 'function']) ?? [],
  )
}

/** Lets a core charge by other rules. */
function applyRules(core: LimiterCore, rules: Rules): void {
  const bound = bindAnew(core, rules.entries)
  const { context, modeSwitch } = core.settings
  core.limits = rules.overrides.isEmpty ? bound : ruledLimits(rules, context, modeSwitch)
}

/** Binds the limits of a document. Inspection then no longer shows the limits of the previous document. */
function bindAnew(core: LimiterCore, entries: readonly Entry[]): BoundLimits {
  const recorded = core.settings.context.limits
  const before = new Map(recorded)
  const bound = bindLimits(core, entries)
  for (const [id, limit] of before) if (recorded.get(id) === limit) recorded.delete(id)
  return bound
}
