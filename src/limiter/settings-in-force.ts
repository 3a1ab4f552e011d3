import { isPolicy } from '../policies/policy.js'
import type { Emitter } from '../util/emitter.js'
import type { Mode } from './access-rules.js'
import type { LimiterCore } from './core.js'
import { describeRules, type LimiterDescription } from './description.js'
import { emit, emitFailure, type LimiterEvents } from './events.js'
import type { Entry } from './read-limits.js'
import type { LimiterSettings } from './read-options.js'
import { documentSourceOf, type FollowedSettings, type SettingsInForce } from './settings-source.js'

/** What a document changes in a limiter besides its limits. */
interface DocumentHooks {
  /** Called when the candidate's limits have changed. `entries` is `undefined` if there is no candidate. */
  useCandidate(entries: readonly Entry[] | undefined): void
  onRulesChanged(): void
}

/** The document that a limiter follows, if any. */
export interface LimiterDocument {
  /** Absent if the limiter follows no settings. */
  readonly followed: FollowedSettings | undefined
  /** Sets the mode that applies unless the document has one. */
  setMode(mode: Mode): void
  describe(): LimiterDescription
}

/** Creates the document of a limiter. The limiter follows it once `followed.start` is called. */
export function limiterDocument<Subject>(
  settings: LimiterSettings,
  core: LimiterCore,
  events: Emitter<LimiterEvents<Subject>>,
  { useCandidate, onRulesChanged }: DocumentHooks,
): LimiterDocument {
  const { source, modeSwitch, context, candidate } = settings
  const { name = '' } = context
  let codeMode = modeSwitch.mode
  let inForce: SettingsInForce | undefined
  let candidateId = idOf(candidate)

  function applyMode(): void {
    modeSwitch.mode = inForce?.mode ?? codeMode
    onRulesChanged()
  }

  function onApplied(next: SettingsInForce): void {
    inForce = next
    applyMode()
    const candidateEntries = next.candidate ?? candidate
    if (candidateId !== idOf(candidateEntries)) {
      candidateId = idOf(candidateEntries)
      useCandidate(candidateEntries)
    }
    emit(events, 'settings', [next.applied])
  }

  const onFailure = (error: Error) => emitFailure(events, 'settingsFailed', error)

  return {
    followed: source && documentSourceOf(source).follow({ name, core, onApplied, onFailure }),
    setMode(mode) {
      codeMode = mode
      applyMode()
    },
    describe: () => describeRules(settings, inForce),
  }
}

/** Returns a text that identifies the limits of a candidate. */
function idOf(entries: readonly Entry[] | undefined): string {
  return JSON.stringify(
    entries?.map(({ entryName, policy }) => [entryName, isPolicy(policy) ? policy.spec : 'function']) ?? [],
  )
}
