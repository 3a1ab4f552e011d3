import type { SharedSettings } from '../../settings/shared-settings.js'
import { readChange } from '../../settings/stored-settings.js'
import type { Documents } from '../../stores/documents.js'
import type { Store } from '../../stores/store.js'
import type { MaybePromise } from '../../util/maybe-promise.js'
import { wholeNumber, wrongOption } from '../../util/validate.js'
import type { LimitDemand } from '../client-demand.js'
import { makeChange } from './make-change.js'
import { afterChange, approve, cancel, nextTrial, type TrialInput, withoutChange } from './next-trial.js'
import { step } from './step.js'
import { isDue, type Trial, type TrialEvent, type TrialOrigin, type TrialPlan } from './trial.js'
import { trialDocument, trialKey } from './trial-document.js'
import { limitIn } from './trial-settings.js'

/** A call takes a few steps at once, such as from an approval to the guard, and other processes take some of them. */
const MAX_ATTEMPTS = 20

/** A trial, and the events of the steps that this call took. Each step is taken by one call of all processes. */
export interface Advanced {
  /** Absent if the limiter has never had a trial. */
  readonly trial: Trial | undefined
  readonly events: readonly TrialEvent[]
}

/** Trials of limits, one for each limiter at a time, which all processes share. */
export interface SharedTrials {
  read(limiter: string): Promise<Trial | undefined>
  /**
   * Starts a trial: its limit becomes the candidate. Rejects with a `TypeError` if another trial is not over,
   * or the settings already have a candidate.
   */
  start(plan: TrialPlan, origin: TrialOrigin): Promise<Advanced>
  /** Promotes the limit on trial. Rejects with a `TypeError` unless its candidate has run for its time. */
  approve(limiter: string, origin: TrialOrigin): Promise<Advanced>
  /** Ends a trial: removes its candidate, or restores the previous limit. */
  stop(limiter: string, origin: TrialOrigin): Promise<Advanced>
  /**
   * Takes the steps that are due, if any. Any process may call this at any time. `demand` is what clients
   * demanded of the limit in force, by all processes: after the promotion, of the limit on trial since then.
   * `candidate` is what the limit on trial decided as a candidate.
   */
  advance(limiter: string, demand?: LimitDemand, candidate?: LimitDemand): Promise<Advanced>
}

/** What all processes have counted of the limit in force, and of the candidate. */
type Seen = Pick<TrialInput, 'demand' | 'candidate'>

/** Returns a trial after the step that an operator asks for. Throws a `TypeError` if it cannot be taken. */
type TakeStep = (trial: Trial | undefined) => MaybePromise<Trial | undefined>

interface TrialOptions {
  /** The prefix of the settings. */
  readonly prefix?: string
  readonly now?: () => number
}

/**
 * Creates trials in a store, beside the settings that they change. Each step is one write of the trial's
 * document, if no other process has written it, so exactly one process takes it and gets its event. A step
 * that changes the settings is written as due first. If its process dies, another one makes the change, at
 * most once. If the store fails, every method resolves with the steps that it took, or rejects with a
 * `StoreError` if it took none. The trial goes on with the next call.
 */
export function sharedTrials(
  store: Pick<Store, 'name'> & { readonly documents: Documents },
  settings: SharedSettings,
  { prefix = 'hg', now = Date.now }: TrialOptions = {},
): SharedTrials {
  const documentOf = (limiter: string) => trialDocument(store, trialKey(prefix, limiter))

  /** Takes the steps that are due, then the one that `ask` returns, and those that follow from it. */
  async function takeSteps(limiter: string, seen: Seen = {}, ask?: TakeStep): Promise<Advanced> {
    const document = documentOf(limiter)
    const events: TrialEvent[] = []
    let [trial, asked]: [Trial | undefined, TakeStep | undefined] = [undefined, ask]
    try {
      for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
        const { trial: before, version } = await document.read()
        trial = before
        const due = await dueStep(before, seen)
        const after = due ?? (await asked?.(before))
        if (after === undefined) break
        if (!(await document.write(after, version))) continue
        trial = after
        events.push(...after.events.slice(before?.id === after.id ? before.events.length : 0))
        if (due === undefined) asked = undefined
      }
    } catch (error) {
      if (events.length === 0) throw error // otherwise the next call meets it again
    }
    return { trial, events }
  }

  /** Returns the next step that is due without being asked for. */
  async function dueStep(trial: Trial | undefined, seen: Seen): Promise<Trial | undefined> {
    if (trial === undefined || trial.phase === 'ended') return undefined
    const { phase } = trial
    if (isDue(phase)) {
      const { made, problem } = await makeChange(settings, trial)
      if (made === 'made') return afterChange(trial, now())
      return withoutChange(problem === undefined ? trial : { ...trial, problem }, made, now())
    }
    return nextTrial(trial, {
      nowMs: now(),
      document: await settings.read(trial.limiter),
      ...seen,
    })
  }

  /** Takes a step that an operator asks for. */
  function takeAsked(limiter: string, origin: TrialOrigin, ask: TakeStep): Promise<Advanced> {
    readChange(origin, now())
    return takeSteps(limiter, undefined, ask)
  }

  return {
    read: async (limiter) => (await documentOf(limiter).read()).trial,
    advance: async (limiter, demand, candidate) =>
      takeSteps(limiter, { ...(demand && { demand }), ...(candidate && { candidate }) }),
    start: async (plan, origin) =>
      takeAsked(plan.limiter, origin, async (trial) => {
        checkPlan(plan)
        checkEnded(plan.limiter, trial)
        const { limits, candidate } = await settings.read(plan.limiter)
        if (candidate !== undefined) throw hasCandidate(plan.limiter)
        return newTrial(plan, origin, limitIn({ limits }, plan.limitName), now())
      }),
    approve: async (limiter, origin) =>
      takeAsked(limiter, origin, (trial) => approve(requireTrial(limiter, trial), origin, now())),
    stop: async (limiter, origin) =>
      takeAsked(limiter, origin, (trial) => cancel(requireTrial(limiter, trial), origin, now())),
  }
}

function checkPlan({ limit, watchMs, guardMs, maxHarmedShare }: TrialPlan): void {
  for (const [name, value] of Object.entries({ limit, watchMs, guardMs })) wholeNumber('tune', name, value)
  if (maxHarmedShare >= 0 && maxHarmedShare <= 1) return
  throw wrongOption('tune', 'maxHarmedShare', 'a share from 0 to 1', maxHarmedShare, 'Did you mean 0.01?')
}

function checkEnded(limiter: string, trial: Trial | undefined): void {
  if (trial === undefined || trial.phase === 'ended') return
  throw new TypeError(`tune: ${limiter} must have no other trial, but one is ${trial.phase}. Stop it first.`)
}

function hasCandidate(limiter: string): TypeError {
  return new TypeError(`tune: ${limiter} must have no candidate in its settings. Remove it first.`)
}

function newTrial(plan: TrialPlan, origin: TrialOrigin, before: Trial['before'], nowMs: number): Trial {
  const id = crypto.randomUUID().slice(0, 8)
  const trial: Trial = { ...plan, id, origin, before, phase: 'starting', phaseSinceMs: nowMs, events: [] }
  return step(trial, 'starting', nowMs, origin)
}

function requireTrial(limiter: string, trial: Trial | undefined): Trial {
  if (trial !== undefined) return trial
  throw new TypeError(`tune: ${limiter} has no trial. Start one.`)
}
