import { isChangeOf } from '../../tuning/trial/change-id.js'
import type { Trial } from '../../tuning/trial/trial.js'
import { timeout } from '../../util/timeout.js'
import { changesLifted, type Lifted, lift } from '../actions/lift.js'
import type { Tuning } from '../board/tuning.js'
import type { Watched } from '../figures/limiter-watch.js'
import type { Action, FindLimiter } from './actions.js'
import { attempt, attemptRead } from './attempt.js'
import { type Body, readBase, readChangeAuthor } from './read-change.js'
import { RequestError } from './respond.js'

/** Longer than a change of settings tries. */
const within = timeout(15_000)

/**
 * Creates the action that undoes parts that are in force, or a whole change. A step of a trial that runs is undone by
 * ending the trial: otherwise its candidate, or its limit, could come back without anything that watches it.
 */
export function undoAction(find: FindLimiter, tuning: Pick<Tuning, 'trial' | 'stop'>): Action {
  async function trialOf(watched: Watched, lifted: Lifted): Promise<Trial | undefined> {
    const trial = await within(tuning.trial(watched.name))
    if (trial === undefined || trial.phase === 'ended') return undefined
    const changes = await changesLifted(watched, lifted)
    return changes.some((id) => isChangeOf(id, trial)) ? trial : undefined
  }

  return {
    isChange: true,
    async run(body, { operator }) {
      const watched = find(body.limiter)
      const { id, ...origin } = readChangeAuthor(body, operator)
      const lifted = readLifted(body)
      const trial = await attemptRead(() => trialOf(watched, lifted))
      if (trial === undefined) {
        await attempt(() => lift(watched, lifted, { ...origin, ...(id !== undefined && { id }) }))
        return {}
      }
      if ('paths' in lifted && lifted.paths.length > 1)
        throw new RequestError(400, 'Undo the step of a trial alone, because that ends the trial.')
      await attempt(() => within(tuning.stop(watched.name, origin)))
      return { ended: `the trial of ${trial.limit.toLocaleString('en-US')} for ${trial.limitName}` }
    },
  }
}

/** Reads what is undone: a change, or parts of a version; with `over`, whatever others have changed up to that one. */
function readLifted({ change, paths, base, over: given }: Body): Lifted {
  const over = given === undefined ? {} : { over: readBase(given) }
  if (typeof change === 'string') return { change, ...over }
  if (isPaths(paths)) return { paths, base: readBase(base), ...over }
  throw new RequestError(400, 'undo needs a change, or paths.')
}

function isPaths(paths: unknown): paths is readonly string[] {
  return Array.isArray(paths) && paths.length > 0 && paths.every((path) => typeof path === 'string')
}
