import { inspectSettings } from '../../limiter/settings-source.js'
import type { SharedSettings } from '../../settings/shared-settings.js'
import { boundedCalls } from '../../stores/shared/bounded-calls.js'
import { demandsInForce } from '../../tuning/demand-in-force.js'
import { type Advanced, type SharedTrials, sharedTrials } from '../../tuning/trial/shared-trials.js'
import { readTrial } from '../../tuning/trial/stored-trial.js'
import type { Trial } from '../../tuning/trial/trial.js'
import { trialKey } from '../../tuning/trial/trial-document.js'
import type { LimiterWatch } from '../figures/limiter-watch.js'
import type { Group } from '../shared/group.js'

/** How often a process looks whether a step of a trial is due. */
const EVERY_MS = 10_000

/** The trials of the limiters of a group, whose steps this process takes if no other has. */
export interface Trials {
  /** Takes the steps that are due, if it is time. Never rejects. */
  check(): Promise<void>
  /** Takes a step that an operator asks for. Resolves with the trial. Rejects with a `TypeError` without settings. */
  take(limiter: string, step: (trials: SharedTrials) => Promise<Advanced>): Promise<Trial | undefined>
  /** Reads the trial of a limiter; `undefined` if it has had none, or has no settings. */
  read(limiter: string): Promise<Trial | undefined>
  /** Why trials cannot continue; `undefined` if they can. */
  problem(): string | undefined
}

/** A limiter that can have a trial. */
interface TrialLimiter {
  readonly watch: LimiterWatch
  readonly trials: SharedTrials
  readonly key: string
}

/**
 * Looks after the trials of a group. All processes with a dashboard do so: each step is one write that only
 * one of them makes. The trial keeps its events, and each process passes those on that are new to it, so that
 * none is lost with the process that took the step. The log keeps each once.
 */
export function trialsOf(group: Group, now: () => number): Trials {
  const { store, documents, prefix, watches } = group.options
  const limiters = watches.flatMap((watch): readonly TrialLimiter[] => {
    const settings = settingsOf(watch)
    if (settings === undefined) return []
    const trials = sharedTrials({ name: store, documents }, settings, { prefix, now })
    return [{ watch, trials, key: trialKey(prefix, nameOf(watch)) }]
  })
  const calls = boundedCalls(store)
  const versions = new Map<string, string>()
  const running = new Set<string>()
  /** The last event of each trial that was passed on. */
  const logged = new Map<string, string>()
  let checkedMs = Number.NEGATIVE_INFINITY

  /** Reads the trials that have changed, all at once. */
  async function read(): Promise<void> {
    const found = await documents.read(limiters.map(({ key }) => ({ key, version: versions.get(key) })))
    for (const [i, { key }] of limiters.entries()) {
      const { version, text } = found[i] ?? {}
      if (version !== undefined && text === undefined) continue // it has not changed, or is damaged
      const trial = readTrial(text)?.trial
      if (version === undefined) versions.delete(key)
      else versions.set(key, version)
      note(key, trial)
    }
  }

  function note(key: string, trial: Trial | undefined): void {
    if (trial === undefined || trial.phase === 'ended') running.delete(key)
    else running.add(key)
    const events = trial?.events ?? []
    const next = events.findIndex(({ id }) => id === logged.get(key)) + 1
    for (const event of events.slice(next)) {
      group.log.add(event)
      logged.set(key, event.id)
    }
  }

  async function advance({ watch, trials, key }: TrialLimiter): Promise<void> {
    const demands = (await group.histories.get(watch.name)?.demands()) ?? []
    const { limitName, limit } = (await trials.read(nameOf(watch))) ?? {}
    const demand = demandsInForce(demands, watch.limitsInForce()).find((each) => each.limitName === limitName)
    const candidate = demands.find(
      (each) => each.isCandidate && each.limitName === limitName && each.limit === limit,
    )
    const { trial } = await trials.advance(nameOf(watch), demand, candidate)
    note(key, trial)
  }

  async function checkAll(): Promise<void> {
    await read()
    let failure: unknown
    for (const limiter of limiters.filter(({ key }) => running.has(key)))
      await advance(limiter).catch((error) => {
        failure = error // the others go on
      })
    if (failure !== undefined) throw failure
  }

  const find = (name: string) => limiters.find(({ watch }) => watch.name === name)

  return {
    async take(name, step) {
      const limiter = find(name)
      if (limiter === undefined)
        throw new TypeError(
          `tune: ${name} must have shared settings. Add settings: sharedSettings(store) to its options.`,
        )
      const { trial } = await step(limiter.trials)
      note(limiter.key, trial)
      return trial
    },
    async read(name) {
      const { watch, trials } = find(name) ?? {}
      return watch && trials?.read(nameOf(watch))
    },
    async check() {
      if (limiters.length === 0 || Math.abs(now() - checkedMs) < EVERY_MS) return
      checkedMs = now()
      await calls.attempt(checkAll)
    },
    problem: calls.problem,
  }
}

/** Returns why the trials of some groups cannot continue, each in a sentence. */
export function trialProblems(trials: readonly Trials[]): readonly string[] {
  const problems = trials.flatMap((each) => each.problem() ?? [])
  return [...new Set(problems)].map((problem) => `Trials cannot continue (${problem}).`)
}

const nameOf = ({ limiter }: LimiterWatch): string => limiter.name ?? ''

/** Returns the settings of a limiter that can be changed; `undefined` if it has none. */
function settingsOf({ limiter, inspection }: LimiterWatch): SharedSettings | undefined {
  if (limiter.name === undefined) return undefined
  return inspectSettings(inspection.source) as SharedSettings | undefined
}
