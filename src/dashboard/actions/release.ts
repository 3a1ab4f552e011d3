import { partsInForce } from '../../settings/in-force.js'
import { overridePath } from '../../settings/parts.js'
import { NothingLeftError } from '../../settings/undo.js'
import { fieldsOf } from '../../util/values.js'
import type { Watched } from '../figures/limiter-watch.js'
import type { ShownClient } from '../figures/shown.js'
import { releaseIdentities } from './adjust-clients.js'
import { lift } from './lift.js'
import { type ChangeAuthor, settingsOf } from './settings-of.js'
import { clientsAmong } from './targeted-clients.js'
import { MAX_TARGETS, resolveTargets, type Target } from './targets.js'

/**
 * Lets clients in again: forgets what they have used, which also ends their bans, and undoes blocks of the same
 * targets. The clients of a network are those that were denied from it lately. Returns whose usage was forgotten.
 * Rejects if the store failed; it may then be called again.
 */
export async function releaseTargets(
  watched: Watched,
  targets: readonly Target[],
  denied: readonly ShownClient[],
  author: ChangeAuthor,
): Promise<readonly string[]> {
  const named = targets.flatMap(({ storedIdentity, identity }) => storedIdentity ?? identity ?? [])
  const listed = clientsAmong(denied, targets).map(({ identity }) => identity)
  const texts = Array.from(new Set([...named, ...listed])).slice(0, MAX_TARGETS)
  await undoBlocks(watched, targets, author)
  await releaseIdentities(watched, texts)
  return texts
}

async function undoBlocks(watched: Watched, targets: readonly Target[], author: ChangeAuthor): Promise<void> {
  const found = settingsOf(watched)
  if (found === undefined) return
  const recorded = await found.settings.readWithChanges(found.name)
  const blocked = partsInForce(recorded, Date.now()).filter(({ value }) => fieldsOf(value).block === true)
  if (blocked.length === 0) return
  const all = [...targets, ...(await resolveTargets(watched, targets))]
  const wanted = new Set(all.map((target) => overridePath({ ...target, block: true })))
  const paths = blocked.flatMap(({ path }) => (wanted.has(path) ? [path] : []))
  if (paths.length === 0) return
  await lift(watched, { paths, base: recorded.changes[0]?.id ?? null }, author).catch((error) => {
    if (!(error instanceof NothingLeftError)) throw error // otherwise another operator has just undone them
  })
}
