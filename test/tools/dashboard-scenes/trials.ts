import type { LimitDemand } from '../../../src/tuning/client-demand.js'
import { propose } from '../../../src/tuning/propose.js'
import { TRIAL_DEFAULTS } from '../../../src/tuning/trial/plan.js'
import type { Trial, TrialPhase } from '../../../src/tuning/trial/trial.js'

const HOUR_MS = 3_600_000
/** The limiters of a scene that have a trial, each in another phase. */
const PHASES: Readonly<Record<string, TrialPhase>> = {
  checkout: 'starting',
  login: 'watching',
  search: 'ready',
  uploads: 'promoting',
  graphql: 'guarding',
  webhooks: 'stopping',
  exports: 'ended',
}
const TEXTS: Readonly<Record<TrialPhase, string>> = {
  starting: 'a trial of 180 starts',
  watching: 'the limit of 180 runs as a candidate for 1d',
  ready: 'the limit of 180 would have newly denied 9 of 3,400 clients, and waits for approval',
  promoting: 'the limit of 180 was approved',
  guarding: 'the limit of 180 is in force, and is reverted if denials rise by more than 1%',
  reverting: 'the limit of 180 is reverted',
  stopping: 'the trial of the limit of 180 stops',
  ended: 'the trial of the limit of 180 has ended, because it denied 4% of the clients in good standing',
}

/** Returns what the page reads about the limits of a limiter: proposals, and a trial. */
export function tuningAnswer(limiter: string, nowMs: number) {
  const phase = Object.hasOwn(PHASES, limiter) ? PHASES[limiter] : undefined
  return {
    proposals: limiter === 'admin' ? [] : [propose(demandOf(limiter, nowMs))],
    trial: phase === undefined ? null : trialIn(phase, limiter, nowMs),
    defaults: TRIAL_DEFAULTS,
  }
}

/** A crowd of 3,400 clients, and two that ask for a hundred times as much. */
function demandOf(limitName: string, nowMs: number): LimitDemand {
  const crowd = Array.from({ length: 340 }, (_, i) => ({
    identity: `user-${i}`,
    peak: 4 + Math.floor(156 * (i / 340) ** 4),
    weight: 10,
    wasDenied: i > 330,
  }))
  const apart = [
    { identity: '198.51.100.10', peak: 41_200, weight: 1, wasDenied: true },
    { identity: '<img src=x onerror=alert(1)>', peak: 18_700, weight: 1, wasDenied: true },
  ]
  const demands = limitName === 'mail' ? crowd.slice(0, 3) : [...crowd, ...apart]
  const times = { windowMs: 60_000, fromMs: nowMs - 24 * HOUR_MS, toMs: nowMs }
  return { limitName, limit: 120, ...times, clients: 3402, demands }
}

function trialIn(phase: TrialPhase, limiter: string, nowMs: number): object {
  const atMs = nowMs - 2 * HOUR_MS
  const figures = { clients: 3400, denied: 9, identities: ['user-331', 'user-335', 'user-337'] }
  const isWatched = phase !== 'starting' && phase !== 'watching'
  const isGuarded = phase === 'guarding' || phase === 'ended'
  const trial: Omit<Trial, 'apart' | 'standing' | 'watched'> & { readonly watched?: object } = {
    ...{ id: `trial-${limiter}`, limiter, limitName: limiter, limit: 180, ...TRIAL_DEFAULTS },
    origin: { by: 'ines', reason: '99.9% of the clients asked for at most 160 in 1 min' },
    phase,
    phaseSinceMs: atMs,
    before: { limit: 120 },
    ...(isWatched && { watched: { ...figures, from: phase === 'ready' ? 'decisions' : 'demands' } }),
    ...(isGuarded && { guarded: { ...figures, denied: 2, identities: ['user-12', 'user-40'] } }),
    ...(phase === 'stopping' && {
      problem: 'The settings could not be changed (redis: no reply within 800 ms).',
    }),
    events: [
      {
        ...{ id: 'step', atMs, kind: 'tune', text: TEXTS[phase], limiter, by: 'ines' },
        details: { trial: `trial-${limiter}`, phase },
      },
    ],
  }
  return trial
}
