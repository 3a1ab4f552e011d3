import type { Trial, TrialFigures, TrialPhase } from '../../tuning/trial/trial.js'
import { durationText } from '../../util/durations.js'
import { count, isoTime, percent, printable, row, timeText } from '../output.js'
import { shellWord } from './proposal-text.js'

/** How many clients are listed. */
const SHOWN = 5
/** Processes look every 10 seconds, and add what they count within six minutes. */
const LATE_MS = 600_000

/** Returns the text about a trial, for people. */
export function trialText(trial: Trial, given: string, nowMs: number): string {
  const { id, limiter, limitName, limit, watched, guarded, problem } = trial
  const lines = [
    row('trial', id),
    row('limiter', printable(limiter)),
    row('limit', `${count(limit)} for ${printable(limitName)}`),
    row('state', stateText(trial, nowMs)),
    ...(watched === undefined
      ? []
      : [row('would deny', `${figuresText(watched)}${watched.from === 'demands' ? ' (estimated)' : ''}`)]),
    ...(guarded === undefined ? [] : [row('denies', `${figuresText(guarded)}, of those in good standing`)]),
    ...(problem === undefined ? [] : [row('problem', printable(problem))]),
  ]
  const steps = trial.events.map(({ atMs, text, by, reason }) => {
    const who = by === undefined ? '' : ` (${printable(by)}: ${printable(reason ?? '')})`
    return `  ${timeText(isoTime(atMs))}  ${printable(text)}${who}`
  })
  const next = nextLines(trial, given.includes('@') ? '<store>' : shellWord(given))
  return `${[lines, ['steps', ...steps], next]
    .filter(({ length }) => length > 0)
    .map((each) => each.join('\n'))
    .join('\n\n')}\n`
}

function stateText(trial: Trial, nowMs: number): string {
  const { phase, phaseSinceMs, watchMs, guardMs, maxHarmedShare, outcome } = trial
  const texts: Readonly<Record<TrialPhase, string>> = {
    starting: 'is about to run as a candidate',
    watching: `runs as a candidate for ${durationText(watchMs)}, until ${until(phaseSinceMs + watchMs, nowMs)}`,
    ready: 'waits for approval',
    promoting: 'is about to come into force',
    guarding: `is in force, and is reverted if it denies ${percent(maxHarmedShare)} more of the clients in good standing until ${until(phaseSinceMs + guardMs, nowMs)}`,
    reverting: 'is about to be reverted',
    stopping: 'is about to end',
    ended: `ended: ${outcome ?? 'unknown'}`,
  }
  return texts[phase]
}

/** Says when a phase ends, and who is missing if it should have ended. */
function until(endMs: number, nowMs: number): string {
  const end = timeText(isoTime(endMs))
  if (nowMs < endMs + LATE_MS) return end
  return `${end}, but no process has reported what clients asked for since: is a dashboard running?`
}

function figuresText({ clients, denied, identities }: TrialFigures): string {
  const shown = identities.slice(0, SHOWN).map(printable).join(', ')
  const more = denied > SHOWN ? ' and others' : ''
  return `${count(denied)} of ${count(clients)} clients${shown === '' ? '' : `: ${shown}${more}`}`
}

/** Returns the commands that are possible now. */
function nextLines({ phase, limiter }: Trial, store: string): readonly string[] {
  const command = (name: string) => `npx headgate tune ${name} ${store} ${limiter} --reason <text>`
  const stop = row('to stop it', command('stop'))
  if (phase === 'ready') return [row('to approve it', command('approve')), stop]
  return phase === 'watching' || phase === 'guarding' ? [stop] : []
}
