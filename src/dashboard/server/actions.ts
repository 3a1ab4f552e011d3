import { messageOf } from '../../stores/store-error.js'
import { durationMs } from '../../util/durations.js'
import { blockIdentity, canBeIdentity, lookUp, releaseIdentity } from '../actions/lookup.js'
import type { Watched } from '../figures/limiter-watch.js'
import { RequestError } from './respond.js'

/** What the page sends. */
type Body = Readonly<Record<string, unknown>>

/** What the page can do, by the last segment of its path. Each resolves with what is sent as JSON. */
export type Actions = ReadonlyMap<string, (body: Body) => Promise<object>>

/** Creates the actions on some limiters. They reject with a `RequestError`. */
export function actionsOn(limiters: readonly Watched[]): Actions {
  function find(name: unknown): Watched {
    const found = limiters.find((each) => each.name === name)
    if (found === undefined) throw new RequestError(404, 'There is no such limiter.')
    return found
  }

  async function lookup({ identity }: Body): Promise<object> {
    const text = readIdentity(identity)
    return { found: await Promise.all(limiters.map((each) => lookUp(each, text))) }
  }

  async function release({ identity, limiter }: Body): Promise<object> {
    await attempt(() => releaseIdentity(find(limiter), readIdentity(identity)))
    return {}
  }

  async function block({ identity, limiter, durationMs: length }: Body): Promise<object> {
    await attempt(() => {
      const ms = durationMs('dashboard', 'durationMs', length)
      return blockIdentity(find(limiter), readIdentity(identity), ms)
    })
    return {}
  }

  return new Map(Object.entries({ lookup, release, block }))
}

/** Carries out a change. Wrong arguments are a 400, a store that fails is a 503. */
async function attempt(change: () => Promise<void>): Promise<void> {
  try {
    await change()
  } catch (error) {
    if (error instanceof RequestError) throw error
    throw new RequestError(error instanceof TypeError ? 400 : 503, messageOf(error))
  }
}

function readIdentity(identity: unknown): string {
  if (typeof identity !== 'string') throw new RequestError(400, 'identity must be a string.')
  if (canBeIdentity(identity)) return identity
  const must = '1 to 1024 characters, without NUL or unpaired surrogates'
  throw new RequestError(400, `identity must be ${must}.`)
}
