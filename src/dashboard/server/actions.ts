import { canBeIdentity, lookUp } from '../actions/lookup.js'
import type { Watched } from '../figures/limiter-watch.js'
import { clientActions } from './client-actions.js'
import type { Body } from './read-change.js'
import { RequestError } from './respond.js'
import { type ActionFigures, type Sender, settingsActions } from './settings-actions.js'

/** Something that the page can do. */
export interface Action {
  /** Whether it changes anything, which takes more than the right to see. */
  readonly isChange: boolean
  /** Resolves with what is sent as JSON. Rejects with a `RequestError`. */
  run(body: Body, sender: Sender): Promise<object>
}

/** What the page can do, by the last segment of its path. */
export type Actions = ReadonlyMap<string, Action>

/** What whoever may see the page can do. */
const READING = ['lookup', 'proposal', 'in-force', 'settings', 'preview']

/** Returns the limiter that a request names. Throws a `RequestError` if there is none. */
export type FindLimiter = (name: unknown) => Watched

export function finderIn(limiters: readonly Watched[]): FindLimiter {
  return (name) => {
    const found = limiters.find((each) => each.name === name)
    if (found === undefined) throw new RequestError(404, 'There is no such limiter.')
    return found
  }
}

/** Creates the actions on some limiters, and logs those that change something. */
export function actionsOn(limiters: readonly Watched[], figures: ActionFigures): Actions {
  const find = finderIn(limiters)

  async function lookup({ identity }: Body): Promise<object> {
    const text = readIdentity(identity)
    return { found: await Promise.all(limiters.map((each) => lookUp(each, text))) }
  }

  const actions = {
    lookup,
    ...clientActions(find, figures),
    ...settingsActions(limiters, find, figures),
  }
  return new Map(
    Object.entries<Action['run']>(actions).map(([name, run]) => [
      name,
      { isChange: !READING.includes(name), run },
    ]),
  )
}

function readIdentity(identity: unknown): string {
  if (typeof identity !== 'string') throw new RequestError(400, 'identity must be a string.')
  if (canBeIdentity(identity)) return identity
  const must = '1 to 1024 characters, without NUL or unpaired surrogates'
  throw new RequestError(400, `identity must be ${must}.`)
}
