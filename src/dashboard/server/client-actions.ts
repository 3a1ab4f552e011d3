import { fieldsOf } from '../../util/values.js'
import { banTargets, blocksByBan, overrideTargets } from '../actions/overrides.js'
import { releaseTargets } from '../actions/release.js'
import type { ChangeAuthor } from '../actions/settings-of.js'
import { readTargets, type Target } from '../actions/targets.js'
import type { Watched } from '../figures/limiter-watch.js'
import type { LoggedEvent } from '../figures/logged-event.js'
import { counted, plainText } from '../findings/words.js'
import { attempt } from './attempt.js'
import { onceLogged } from './once.js'
import { type Body, readBase, readChangeAuthor, readEffect, readLength } from './read-change.js'
import type { ActionFigures, Sender } from './settings-actions.js'

/** The most identities that an event names. */
const MAX_NAMED = 20

/** Creates the actions on clients of a limiter. They reject with a `RequestError`. */
export function clientActions(find: (name: unknown) => Watched, figures: ActionFigures) {
  const once = onceLogged(figures)

  async function release(body: Body, { operator }: Sender): Promise<object> {
    const watched = find(body.limiter)
    const author = readChangeAuthor(body, operator)
    const eventId = eventIdOf('release', watched, author)
    const act = async () => {
      const targets = readTargets(body.targets)
      const { denied = [] } = (await figures.asOfNow()).detail(watched.name) ?? {}
      const identities = await releaseTargets(watched, targets, denied, author)
      record('release', watched, `released ${whoText(targets)}`, detailsOf(identities), author)
      return { count: identities.length }
    }
    return attempt(() => once({ eventId, act, responseOf: countIn }))
  }

  /**
   * Blocks, exempts or raises, unless another operator has overridden the same targets since the change `base`. A
   * limiter without settings blocks by its bans.
   */
  async function override(body: Body, { operator }: Sender): Promise<object> {
    const watched = find(body.limiter)
    const author = readChangeAuthor(body, operator)
    const effect = readEffect(body)
    return attempt(async () => {
      const targets = readTargets(body.targets)
      const durationMs = readLength(body.durationMs)
      if (!blocksByBan(watched, effect)) {
        const based = { ...author, basedOn: readBase(body.base) }
        return overrideTargets(watched, { targets, effect, durationMs }, based)
      }
      const eventId = eventIdOf('block', watched, author)
      const act = async () => {
        const { identities, ...done } = await banTargets(watched, { targets, durationMs })
        const details = { ...detailsOf(identities), untilMs: done.untilMs }
        record('block', watched, `blocked ${whoText(targets)} until {${done.untilMs}}`, details, author)
        return done
      }
      return once({
        eventId,
        act,
        responseOf: (details) => ({ ...countIn(details), untilMs: details?.untilMs }),
      })
    })
  }

  /** Logs what settings do not log themselves. */
  function record(
    kind: 'release' | 'block',
    watched: Watched,
    text: string,
    details: NonNullable<LoggedEvent['details']>,
    author: ChangeAuthor,
  ): void {
    const { by, reason } = author
    figures.record({
      id: eventIdOf(kind, watched, author),
      kind,
      text,
      limiter: watched.name,
      by,
      reason,
      details,
    })
  }

  return { release, override }
}

type Details = LoggedEvent['details']

function detailsOf(identities: readonly string[]): NonNullable<Details> {
  const named = identities.slice(0, MAX_NAMED)
  return { identities: named, ...(named.length < identities.length && { count: identities.length }) }
}

function countIn(details: Details): { readonly count: number } {
  const { identities = [], count = identities.length } = fieldsOf(details) as {
    identities?: string[]
    count?: number
  }
  return { count }
}

/** Returns the `id` of the event about an action, which tells the log that it was made. */
function eventIdOf(
  kind: 'release' | 'block',
  { name }: Pick<Watched, 'name'>,
  { id }: Pick<ChangeAuthor, 'id'>,
) {
  return `${kind}/${name}/${id}`
}

function whoText(targets: readonly Target[]): string {
  const [first, ...others] = targets as readonly [Target, ...Target[]]
  if (others.length > 0) return counted(targets.length, 'target')
  const { storedIdentity, identity, network, identityPrefix } = first
  return plainText(storedIdentity ?? identity ?? network ?? `${identityPrefix}…`)
}
