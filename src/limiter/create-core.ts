import { fallbackStoreOf, partScaler } from '../pipe/fallback-store.js'
import { limiterPipe } from '../pipe/limiter-pipe.js'
import { LocalPipe } from '../pipe/local-pipe.js'
import { type PipeOptions, request } from '../pipe/pipe.js'
import { reportUnitsBack } from '../pipe/report-units-back.js'
import type { ChargeResult, KeyedPolicy, ResultOf } from '../stores/operation.js'
import type { StoreError } from '../stores/store-error.js'
import type { BoundLimits, LimiterCore } from './core.js'
import { directCharge } from './direct-decision.js'
import { type Entry, namesOf } from './read-limits.js'
import type { LimiterSettings } from './read-options.js'
import type { Apply, NamedPart, Receipt } from './receipt.js'
import { resolversOf } from './resolve-parts.js'
import { documentSourceOf } from './settings-source.js'
import type { LocalFallback } from './store-failure.js'

/** What a core calls for everything besides decisions. */
export interface CoreHooks extends Pick<PipeOptions, 'onChange' | 'isPublished'> {
  /** Called when the store could not decide a charge. */
  onStoreError(error: StoreError): void
  /** Called when a refund was lost that no caller awaits. */
  onRefundLost(error: StoreError): void
  /** Called when units of these keys came back. */
  onUnitsBack?(keys: readonly KeyedPolicy[]): void
  /** Holds the units of concurrency limits that a charge took, if any. */
  hold?(receipt: Receipt): void
  /** Releases units whose charge succeeded after its time-out. No decision holds them. */
  releaseLate?(parts: readonly NamedPart[], result: ChargeResult, apply: Apply): void
}

/** Creates the core of a limiter: its limits, and the pipe to its store. */
export function limiterCore(settings: LimiterSettings, hooks: CoreHooks): LimiterCore {
  const { entries, context } = settings
  const { hold, releaseLate = () => {} } = hooks
  const store = limiterPipe(settings.store, { ...settings, ...hooks, limiter: context.name })
  const reportingPipe = reportUnitsBack(store, (keys) => hooks.onUnitsBack?.(keys))
  const refundPipe = store.resendRefunds(reportingPipe, hooks.onRefundLost)
  const apply: Apply = (operation, onLate) => request(refundPipe, operation, onLate)
  const core: LimiterCore = {
    settings,
    limitNames: namesOf(entries, context.name),
    store,
    apply,
    fallback: localFallback(settings, hooks),
    limits: NO_LIMITS,
    beforeCharge: settings.source && documentSourceOf(settings.source).pollIfDue,
    onStoreError: (error) => hooks.onStoreError(error),
    onLate(outcome, { parts }) {
      if (!(outcome instanceof Error)) releaseLate(parts as readonly NamedPart[], outcome, apply)
    },
    hold: settings.canHold ? hold : undefined,
    async close({ isStoreShared = false } = {}) {
      await refundPipe.close()
      if (!isStoreShared) await store.close()
    },
  }
  core.limits = bindLimits(core, entries)
  return core
}

const NO_LIMITS: BoundLimits = { resolveCharge: () => [], resolveParts: () => [] }

/** Binds limits to the store of a core. */
export function bindLimits(core: LimiterCore, entries: readonly Entry[]): BoundLimits {
  return { ...resolversOf(entries, core.settings.context), chargeDirectly: directCharge(core, entries) }
}

/**
 * Creates the local fallback of a limiter. Limiters that share keys in the store also share a fallback
 * store.
 */
function localFallback(
  { store, fallbackShare, trackUndecided = (pipe) => pipe }: LimiterSettings,
  { onUnitsBack }: CoreHooks,
): LocalFallback {
  const fallback = fallbackStoreOf(store)
  const pipe = reportUnitsBack(trackUndecided(new LocalPipe(fallback), fallback), (keys) =>
    onUnitsBack?.(keys),
  )
  return {
    apply: (operation) => request(pipe, operation) as ResultOf<typeof operation>, // memory returns no promise
    scaleParts: partScaler(fallbackShare),
    isEmpty: () => fallback.size === 0,
  }
}
