import type { PartValue, SettingsDocument } from '../../limiter/settings-document.js'
import { partsInForce } from '../../settings/in-force.js'
import { documentOf, partsOf, setPart } from '../../settings/parts.js'
import type { Watched } from '../figures/limiter-watch.js'
import { type ChangeAuthor, requireSettings } from './settings-of.js'

/** What to undo: parts of a document in the version `base`, or all that a change did. */
export type Lifted =
  | { readonly paths: readonly string[]; readonly base: string | null }
  | { readonly change: string }

/**
 * Undoes what is in force. Each part gets the value again that it had before the change that set it. Where the
 * history does not reach back so far, the part is removed. Rejects with a `SettingsConflictError` if another
 * operator has changed the same parts since, and otherwise as `settings.change` does.
 */
export async function lift(watched: Watched, lifted: Lifted, author: ChangeAuthor): Promise<void> {
  const { name, settings } = requireSettings(watched)
  if ('change' in lifted) {
    await settings.undo(name, lifted.change, author)
    return
  }
  const { paths, base } = lifted
  const recorded = await settings.readWithChanges(name)
  const inForce = new Map(partsInForce(recorded, Date.now()).map((part) => [part.path, part]))
  const before = new Map(
    paths.map((path) => {
      const part = inForce.get(path)?.change?.parts?.find((each) => each.path === path)
      return [path, part?.before] as const
    }),
  )
  await settings.change(name, (document) => withParts(document, before), { ...author, basedOn: base })
}

/** Returns a document with other values of some parts; `undefined` removes one. */
export function withParts(document: SettingsDocument, values: ReadonlyMap<string, PartValue | undefined>) {
  const nowMs = Date.now()
  const parts = partsOf(document, nowMs)
  for (const [path, value] of values) setPart(parts, path, value, nowMs)
  return documentOf(parts)
}
