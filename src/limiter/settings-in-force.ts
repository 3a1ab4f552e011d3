import type { Emitter } from '../util/emitter.js'
import type { Mode } from './access-rules.js'
import type { LimiterCore } from './core.js'
import { describeRules, type LimiterDescription } from './description.js'
import { emit, emitFailure, type LimiterEvents } from './events.js'
import type { LimiterSettings } from './read-options.js'
import { documentSourceOf, type FollowedSettings, type FollowingLimiter } from './settings-source.js'

/** What a document changes in a limiter besides its limits. */
interface DocumentHooks extends Pick<FollowingLimiter, 'useCandidate'> {
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
  const { source, modeSwitch } = settings
  let codeMode = modeSwitch.mode
  const followed =
    source &&
    documentSourceOf(source).follow({
      core,
      useCandidate,
      onRulesChanged: applyMode,
      onApplied: (applied) => void emit(events, 'settings', [applied]),
      onFailure: (error) => emitFailure(events, 'settingsFailed', error),
    })

  function applyMode(): void {
    modeSwitch.mode = followed?.mode() ?? codeMode
    onRulesChanged()
  }

  return {
    followed,
    setMode(mode) {
      codeMode = mode
      applyMode()
    },
    describe() {
      const description = describeRules(settings)
      return followed?.describe(description) ?? description
    },
  }
}
