import { banTargets, blocksByBan, overrideTargets } from '../actions/overrides.js'
import { releaseTargets } from '../actions/release.js'
import { readTargets, type Target } from '../actions/targets.js'
import type { Watched } from '../figures/limiter-watch.js'
import { counted, plainText } from '../findings/words.js'
import { attempt } from './attempt.js'
import { type Body, readBase, readChangeAuthor, readEffect, readLength } from './read-change.js'
import type { ActionFigures, Sender } from './settings-actions.js'

/** The most identities that an event names. */
const MAX_NAMED = 20

/** Creates the actions on clients of a limiter. They reject with a `RequestError`. */
export function clientActions(find: (name: unknown) => Watched, figures: ActionFigures) {
  async function release(body: Body, { operator }: Sender): Promise<object> {
    const watched = find(body.limiter)
    const author = readChangeAuthor(body, operator)
    return attempt(async () => {
      const targets = readTargets(body.targets)
      const { denied = [] } = (await figures.asOfNow()).detail(watched.name) ?? {}
      const identities = await releaseTargets(watched, targets, denied, author)
      record('release', watched, `released ${whoText(targets)}`, identities, author)
      return { count: identities.length }
    })
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
      const { identities, ...done } = await banTargets(watched, { targets, durationMs })
      record('block', watched, `blocked ${whoText(targets)} until {${done.untilMs}}`, identities, author)
      return done
    })
  }

  /** Logs what settings do not log themselves. */
  function record(
    kind: 'release' | 'block',
    { name }: Watched,
    text: string,
    identities: readonly string[],
    { by, reason }: { readonly by: string; readonly reason: string },
  ): void {
    const named = identities.slice(0, MAX_NAMED)
    const isCut = named.length < identities.length
    const details = { identities: named, ...(isCut && { count: identities.length }) }
    figures.record({ kind, text, limiter: name, by, reason, details })
  }

  return { release, override }
}

function whoText(targets: readonly Target[]): string {
  const [first, ...others] = targets as readonly [Target, ...Target[]]
  if (others.length > 0) return counted(targets.length, 'target')
  const { storedIdentity, identity, network, identityPrefix } = first
  return plainText(storedIdentity ?? identity ?? network ?? `${identityPrefix}…`)
}
