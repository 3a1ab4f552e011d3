import { TRIAL_DEFAULTS } from '../../tuning/trial/plan.js'
import type { Trial, TrialOrigin } from '../../tuning/trial/trial.js'
import { timeout } from '../../util/timeout.js'
import type { Tuning } from '../board/tuning.js'
import type { Action, FindLimiter } from './actions.js'
import { attempt, attemptRead } from './attempt.js'
import { type Body, readChangeAuthor } from './read-change.js'
import { RequestError } from './respond.js'
import type { Sender } from './settings-actions.js'

/** Longer than a change of settings tries. */
const within = timeout(15_000)

/** Creates the actions of the page on trials: to see them, and to start, approve and stop one. */
export function trialActions(tuning: Tuning, find: FindLimiter): readonly (readonly [string, Action])[] {
  /** Returns an action that takes a step, for which a reason is required. */
  function step(
    take: (limiter: string, origin: TrialOrigin, body: Body) => Promise<Trial | undefined>,
  ): Action {
    return {
      isChange: true,
      async run(body, { operator }: Sender) {
        const { name: limiter } = find(body.limiter)
        const { by, reason } = readChangeAuthor(body, operator)
        return { trial: trialResponse(await attempt(() => within(take(limiter, { by, reason }, body)))) }
      },
    }
  }

  async function read({ limiter }: Body): Promise<object> {
    const { name } = find(limiter)
    const { trial, proposals } = await attemptRead(() => within(tuning.read(name)))
    return { proposals, trial: trialResponse(trial), defaults: TRIAL_DEFAULTS }
  }

  return [
    ['tuning', { isChange: false, run: read }],
    ['start-trial', step((limiter, origin, body) => tuning.start({ limiter, ...readTrial(body) }, origin))],
    ['approve-trial', step(tuning.approve)],
    ['stop-trial', step(tuning.stop)],
  ]
}

/** Returns a trial without the clients that it compares; `null` if there is none. */
function trialResponse(trial: Trial | undefined): object | null {
  if (trial === undefined) return null
  const { apart: _apart, standing: _standing, ...others } = trial
  return others
}

function readTrial({ limitName, limit, watchMs, guardMs, maxHarmedShare }: Body) {
  return {
    limitName: readName('limitName', limitName),
    limit: readNumber('limit', limit),
    watchMs: readNumber('watchMs', watchMs ?? TRIAL_DEFAULTS.watchMs),
    guardMs: readNumber('guardMs', guardMs ?? TRIAL_DEFAULTS.guardMs),
    maxHarmedShare: readNumber('maxHarmedShare', maxHarmedShare ?? TRIAL_DEFAULTS.maxHarmedShare),
  }
}

function readName(field: string, value: unknown): string {
  if (typeof value === 'string' && value.length <= 200) return value
  throw new RequestError(400, `${field} must be a name.`)
}

function readNumber(field: string, value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw new RequestError(400, `${field} must be a number.`)
}
