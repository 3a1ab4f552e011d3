import { boundedUnits } from './admitted.js'
import type { Choice } from './app.js'
import type { Outcome } from './run-fault.js'

const TIMEOUT_MS = 100
const LATE_BY_MS = 20
const RECOVERS_WITHIN_MS = 2000
/** The application is one process, whose fallback has all of each limit. */
const PROCESSES_TIMES_SHARE = 1
/** A pool opens more connections when it is busy; these are what drivers open at the most by default. */
const POOL = 10
/** Timers that drivers keep for their connections. */
const TIMERS = 2

const SOURCES: { readonly [Each in Choice]: readonly string[] } = {
  allow: ['store', 'fail-open'],
  deny: ['store', 'fail-closed'],
  local: ['store', 'local'],
  function: ['store', 'local', 'fail-closed'],
}

/**
 * The bounds that an outcome breaks. So much later may waits end on a machine that is busy with other
 * things.
 */
export function brokenBounds(outcome: Outcome, forgivenMs = 0): string[] {
  return [
    ...brokenWaits(outcome, forgivenMs),
    ...strangeDecisions(outcome),
    ...overLimit(outcome),
    ...leaks(outcome),
    ...crashes(outcome),
  ]
}

/**
 * The most that a client may be admitted: its policy's bound, once more for each loss of counts, and the
 * fallback's share of it.
 */
export function mostAllowed({ admitted: { promise }, choice, fault }: Outcome): number {
  const local = choice === 'local' || choice === 'function' ? PROCESSES_TIMES_SHARE : 0
  return promise * (1 + (fault.losses ?? 0) + local)
}

function brokenWaits({ app: { waits }, recovery }: Outcome, forgivenMs: number): string[] {
  const broken: string[] = []
  if (waits.p999 > TIMEOUT_MS + LATE_BY_MS + forgivenMs)
    broken.push(`waits of ${Math.round(waits.p999)} ms at p99.9`)
  if (recovery.steadyMs === undefined) broken.push('no recovery')
  else if (recovery.steadyMs > RECOVERS_WITHIN_MS) broken.push(`recovery after ${recovery.steadyMs} ms`)
  return broken
}

function strangeDecisions({ seen, duringFault, choice, fault }: Outcome): string[] {
  const strange = new Set<string>()
  for (const { source, status, method } of seen) {
    const expected =
      choice !== 'function' ? SOURCES[choice] : ['store', method === 'POST' ? 'fail-closed' : 'local']
    if (!expected.includes(source)) strange.add(`an answer of source ${source}`)
    if (!statusesOf(source).includes(status)) strange.add(`${status} of source ${source}`)
  }
  const others = duringFault.filter(({ source }) => source !== 'store').length
  if (fault.isHarmless && others > 0.01 * duringFault.length) {
    strange.add(`${others} of ${duringFault.length} not by the store`)
  }
  return [...strange]
}

function statusesOf(source: string): number[] {
  if (source === 'fail-open') return [200]
  return source === 'fail-closed' ? [503] : [200, 429]
}

function overLimit(outcome: Outcome): string[] {
  const units = boundedUnits(outcome.admitted, outcome.choice)
  const most = mostAllowed(outcome)
  return units > most ? [`${units} let through of ${most}`] : []
}

function leaks({ before, after, hasEnded }: Outcome): string[] {
  const broken = hasEnded ? [] : ['it does not end by itself']
  if (before === undefined) return broken
  const timers = (kinds: Readonly<Record<string, number>>) => kinds.Timeout ?? 0
  if (after.sockets > Math.max(before.sockets, POOL)) broken.push(`${after.sockets} sockets`)
  if (timers(after.kinds) > timers(before.kinds) + TIMERS) broken.push(`${timers(after.kinds)} timers`)
  if (after.listeners > before.listeners) broken.push(`${after.listeners} listeners`)
  return broken
}

function crashes({ app, unanswered }: Outcome): string[] {
  const broken = [
    ...new Set([...app.crashes, ...app.warnings.filter((warning) => !warning.startsWith('HEADGATE_'))]),
  ]
  if (!app.isHealthy) broken.push('not healthy at the end')
  if (unanswered.length > 0) broken.push(`${unanswered.length} without an answer: ${unanswered[0]}`)
  return broken
}
