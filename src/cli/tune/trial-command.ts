import { eventLog } from '../../dashboard/shared/event-log.js'
import { sharedSettings } from '../../settings/shared-settings.js'
import { planOf } from '../../tuning/trial/plan.js'
import { type Advanced, type SharedTrials, sharedTrials } from '../../tuning/trial/shared-trials.js'
import type { TrialPlan } from '../../tuning/trial/trial.js'
import { InputError } from '../failures.js'
import { jsonText } from '../output.js'
import type { OpenStore } from '../settings/open-store.js'
import type { LiveRequest } from './live-arguments.js'
import { documentsOf, readLimitsInForce, readLiveDemands } from './live-demand.js'
import { trialText } from './trial-text.js'

/** Starts, shows, approves or stops the trial of a limiter. Returns what is printed. */
export async function runTrialAction(opened: OpenStore, request: LiveRequest): Promise<string> {
  const { action, limiter = '', prefix, by, reason, json } = request
  const documents = documentsOf(opened)
  const { store } = opened
  const trials = sharedTrials({ name: store.name, documents }, sharedSettings(store, { prefix }), { prefix })
  const origin = { by, reason }
  const { trial, events } = await take()
  const log = eventLog(documents, prefix)
  for (const event of events) log.add(event)
  await log.flush().catch(() => undefined) // the dashboards log them also: the trial keeps its events
  if (json) return jsonText({ limiter, trial: trial ?? null })
  return trial === undefined ? `${limiter} has had no trial\n` : trialText(trial, request.given, Date.now())

  async function take(): Promise<Advanced> {
    if (action === 'start') return trials.start(await readPlan(opened, request), origin)
    if (action === 'status') return { trial: await trials.read(limiter), events: [] }
    const step: keyof SharedTrials = action === 'approve' ? 'approve' : 'stop'
    return trials[step](limiter, origin)
  }
}

/** Reads what is known of a limit that is to be tried. Rejects with an `InputError` if it cannot be tried. */
async function readPlan(opened: OpenStore, { limiter = '', prefix, trial }: LiveRequest): Promise<TrialPlan> {
  const inForce = await readLimitsInForce(opened, prefix, limiter)
  const names = [...new Set(inForce.map(({ name }) => name))]
  const { limitName = names[0], ...asked } = trial
  if (limitName === undefined)
    throw new InputError(`no process has published limits of ${limiter} under the prefix ${prefix}`)
  if (!names.includes(limitName) || (trial.limitName === undefined && names.length > 1))
    throw new InputError(`--name must name a limit of ${limiter}: ${names.join(', ')}`)
  const current = inForce.filter(({ name }) => name === limitName)
  if (current.every(({ limit }) => limit === asked.limit))
    throw new InputError(`${asked.limit} is already the limit in force for ${limitName}`)
  const demands = await readLiveDemands(opened, prefix, limiter)
  return planOf(
    { ...asked, limiter, limitName },
    demands.find((each) => each.limitName === limitName),
  )
}
