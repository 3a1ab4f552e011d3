import { messageOf } from '../../stores/store-error.js'
import { durationMs } from '../../util/durations.js'
import { blockIdentity, canBeIdentity, lookUp, releaseIdentity } from '../actions/lookup.js'
import type { Watched } from '../figures/limiter-watch.js'
import type { PageFigures } from '../figures/shown.js'
import { RequestError } from './respond.js'

/** What the page sends. */
type Body = Readonly<Record<string, unknown>>

/** Who does something, and why, as far as they say so. */
interface Author {
  readonly by?: string
  readonly reason?: string
}

/** Something that the page can do. */
export interface Action {
  /** Whether it changes anything, which takes more than the right to see. */
  readonly isChange: boolean
  /** Resolves with what is sent as JSON. Rejects with a `RequestError`. */
  run(body: Body, operator: string | undefined): Promise<object>
}

/** What the page can do, by the last segment of its path. */
export type Actions = ReadonlyMap<string, Action>

/** The longest name of an operator, and the longest reason. */
const MAX_TEXT = 500

/** Creates the actions on some limiters, and logs those that change something. */
export function actionsOn(limiters: readonly Watched[], record: PageFigures['record']): Actions {
  function find(name: unknown): Watched {
    const found = limiters.find((each) => each.name === name)
    if (found === undefined) throw new RequestError(404, 'There is no such limiter.')
    return found
  }

  async function lookup({ identity }: Body): Promise<object> {
    const text = readIdentity(identity)
    return { found: await Promise.all(limiters.map((each) => lookUp(each, text))) }
  }

  async function release(body: Body, operator: string | undefined): Promise<object> {
    const [watched, identity] = [find(body.limiter), readIdentity(body.identity)]
    const author = readAuthor(body, operator)
    await attempt(() => releaseIdentity(watched, identity))
    record({ kind: 'release', text: `released ${identity}`, ...detailsOf(watched, identity), ...author })
    return {}
  }

  async function block(body: Body, operator: string | undefined): Promise<object> {
    const [watched, identity] = [find(body.limiter), readIdentity(body.identity)]
    const author = readAuthor(body, operator)
    const ms = await attempt(async () => {
      const lengthMs = durationMs('dashboard', 'durationMs', body.durationMs)
      await blockIdentity(watched, identity, lengthMs)
      return lengthMs
    })
    const text = `blocked ${identity} until {${Date.now() + ms}}`
    record({ kind: 'block', text, ...detailsOf(watched, identity), ...author })
    return {}
  }

  return new Map<string, Action>([
    ['lookup', { isChange: false, run: lookup }],
    ['release', { isChange: true, run: release }],
    ['block', { isChange: true, run: block }],
  ])
}

const detailsOf = ({ name }: Watched, identity: string) => ({
  limiter: name,
  details: { identities: [identity] },
})

/** Carries out a change. Wrong arguments are a 400, a store that fails is a 503. */
async function attempt<T>(change: () => Promise<T>): Promise<T> {
  try {
    return await change()
  } catch (error) {
    if (error instanceof RequestError) throw error
    throw new RequestError(error instanceof TypeError ? 400 : 503, messageOf(error))
  }
}

/** Returns who acts: whom the option `operator` names, otherwise the name that the page has asked for. */
function readAuthor({ by, reason }: Body, operator: string | undefined): Author {
  const name = operator ?? readText('by', by)
  const why = readText('reason', reason)
  return { ...(name !== undefined && { by: name }), ...(why !== undefined && { reason: why }) }
}

function readText(field: string, text: unknown): string | undefined {
  if (text === undefined) return undefined
  if (typeof text !== 'string' || text.length > MAX_TEXT || !text.isWellFormed())
    throw new RequestError(400, `${field} must be a string of at most ${MAX_TEXT} characters.`)
  return text.trim() || undefined
}

function readIdentity(identity: unknown): string {
  if (typeof identity !== 'string') throw new RequestError(400, 'identity must be a string.')
  if (canBeIdentity(identity)) return identity
  const must = '1 to 1024 characters, without NUL or unpaired surrogates'
  throw new RequestError(400, `identity must be ${must}.`)
}
