import { cancel, nextTrial, type TrialInput } from '../../../../src/tuning/trial/next-trial.js'
import type { Trial } from '../../../../src/tuning/trial/trial.js'
import { demandSince, HOUR_MS, PLAN, START_MS } from './trial-processes.js'

const DAY_MS = 24 * HOUR_MS
const trial: Trial = {
  ...{ ...PLAN, id: 'a', origin: { by: 'ada', reason: 'x' }, before: null },
  ...{ phase: 'watching', phaseSinceMs: START_MS, events: [] },
}
const watched = { limits: {}, overrides: [], candidate: { limits: { api: { limit: 60 } } } }
const promoted = { limits: { api: { limit: 60 } }, overrides: [] }
const standing = { clients: 400, denied: 0, identities: [], known: [] }
const guarding: Trial = { ...trial, phase: 'guarding', standing }

interface Case {
  readonly trial: Trial
  readonly afterMs: number
  readonly demand?: TrialInput['demand']
  readonly next: readonly [phase: string, outcome: string | undefined] | undefined
}

const CASES: Readonly<Record<string, Case>> = {
  'a candidate whose figures do not reach its end waits for more': {
    ...{ trial, afterMs: DAY_MS, demand: demandSince(START_MS, START_MS + DAY_MS - 1), next: undefined },
  },
  'figures from before the candidate ran are as good, since it denies no client': {
    ...{ trial, afterMs: DAY_MS, demand: demandSince(0, START_MS + DAY_MS), next: ['ready', undefined] },
  },
  'a candidate without figures ends after a week': {
    ...{ trial, afterMs: 8 * DAY_MS, next: ['stopping', 'expired'] },
  },
  'a clock that went back ends nothing': {
    ...{ trial, afterMs: -DAY_MS, demand: demandSince(START_MS, START_MS + DAY_MS), next: undefined },
  },
  'an approval may take a week': {
    ...{ trial: { ...trial, phase: 'ready' }, afterMs: 7 * DAY_MS - 1, next: undefined },
  },
  'an approval that does not come ends the trial': {
    ...{ trial: { ...trial, phase: 'ready' }, afterMs: 7 * DAY_MS, next: ['stopping', 'expired'] },
  },
  'a promoted limit stays while its share is just not exceeded': {
    ...{ trial: guarding, afterMs: HOUR_MS / 2, next: undefined },
    demand: demandSince(START_MS, START_MS + HOUR_MS / 2, { denied: 4 }),
  },
  'figures from before the promotion say nothing about it': {
    ...{ trial: guarding, afterMs: HOUR_MS / 2, next: undefined },
    demand: demandSince(START_MS - 60_001, START_MS + HOUR_MS / 2, { denied: 100 }),
  },
  'figures since the promotion count, by a clock that is a minute behind': {
    ...{ trial: guarding, afterMs: HOUR_MS / 2, next: ['reverting', 'reverted'] },
    demand: demandSince(START_MS - 60_000, START_MS + HOUR_MS / 2, { denied: 100 }),
  },
  'what was denied before the promotion does not count': {
    ...{ afterMs: HOUR_MS, next: ['ended', 'kept'] },
    trial: { ...guarding, standing: { ...standing, denied: 100 } },
    demand: demandSince(START_MS, START_MS + HOUR_MS, { denied: 103 }),
  },
  'a promoted limit that no process measures is reverted': {
    ...{ trial: guarding, afterMs: 2 * HOUR_MS, next: ['reverting', 'expired'] },
  },
  'no traffic at all does no harm': {
    ...{ trial: guarding, afterMs: HOUR_MS, next: ['ended', 'kept'] },
    demand: { ...demandSince(START_MS, START_MS + HOUR_MS), demands: [], clients: 0 },
  },
  'a trial that has ended stays ended': {
    ...{ trial: { ...trial, phase: 'ended', outcome: 'kept' }, afterMs: 99 * DAY_MS, next: undefined },
  },
  'a change that is due waits for the change': {
    ...{ trial: { ...trial, phase: 'promoting' }, afterMs: 99 * DAY_MS, next: undefined },
  },
}

test.each(Object.entries(CASES))('%s', (_, { trial: before, afterMs, demand, next }) => {
  const document = before.phase === 'guarding' ? promoted : watched
  const after = nextTrial(before, { nowMs: START_MS + afterMs, document, ...(demand && { demand }) })
  expect(after && [after.phase, after.outcome]).toEqual(next)
  expect(after?.events.length ?? 1).toBe(1)
})

test.each([
  ['watching', 'stopping'],
  ['ready', 'stopping'],
  ['guarding', 'reverting'],
  ['reverting', undefined],
  ['stopping', undefined],
  ['ended', undefined],
] as const)('an operator stops a trial that is %s: it is %s', (phase, next) => {
  expect(cancel({ ...trial, phase }, { by: 'bob', reason: 'a launch' }, START_MS)?.phase).toBe(next)
})

test.each(['starting', 'promoting'] as const)('a trial that is %s cannot be stopped in between', (phase) => {
  const stop = () => cancel({ ...trial, phase }, { by: 'bob', reason: 'a launch' }, START_MS)
  expect(stop).toThrow(`tune: the trial is ${phase}, which takes a moment. Then stop it again.`)
})
