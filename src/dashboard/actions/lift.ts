import type { PartValue, SettingsDocument } from '../../limiter/settings-document.js'
import { partsInForce, type RecordedSettings } from '../../settings/in-force.js'
import { documentOf, partsOf, setPart } from '../../settings/parts.js'
import type { Watched } from '../figures/limiter-watch.js'
import { type ChangeAuthor, requireSettings } from './settings-of.js'

/**
 * What to undo: parts of a document in the version `base`, or all that a change did. With `base`, that replaces what
 * others have changed since, up to that version.
 */
export type Lifted =
  | { readonly paths: readonly string[]; readonly base: string | null }
  | { readonly change: string; readonly base?: string }

/**
 * Undoes what is in force. Each part gets the value again that it had before the change that set it. Where the
 * history does not reach back so far, the part is removed. Rejects with a `SettingsConflictError` if another
 * operator has changed the same parts since, and otherwise as `settings.change` does.
 */
export async function lift(watched: Watched, lifted: Lifted, author: ChangeAuthor): Promise<void> {
  const { name, settings } = requireSettings(watched)
  const { base } = lifted
  if ('change' in lifted && base === undefined) {
    await settings.undo(name, lifted.change, author)
    return
  }
  const recorded = await settings.readWithChanges(name)
  const before =
    'change' in lifted ? beforeChange(recorded, lifted.change) : beforeParts(recorded, lifted.paths)
  await settings.change(name, (document) => withParts(document, before), {
    ...author,
    basedOn: base ?? null,
  })
}

type Values = ReadonlyMap<string, PartValue | undefined>

/** Returns the values that the parts of a change had before it. Throws a `TypeError` if they were not kept. */
function beforeChange({ changes }: RecordedSettings, id: string): Values {
  const { parts } = changes.find((each) => each.id === id) ?? {}
  if (parts === undefined)
    throw new TypeError(`dashboard: the parts of the change ${id} are no longer known.`)
  return new Map(parts.map(({ path, before }) => [path, before]))
}

/** Returns the values that parts had before the changes that set them. */
function beforeParts(recorded: RecordedSettings, paths: readonly string[]): Values {
  const inForce = new Map(partsInForce(recorded, Date.now()).map((part) => [part.path, part]))
  return new Map(
    paths.map((path) => {
      const part = inForce.get(path)?.change?.parts?.find((each) => each.path === path)
      return [path, part?.before]
    }),
  )
}

/** Returns a document with other values of some parts; `undefined` removes one. */
export function withParts(document: SettingsDocument, values: ReadonlyMap<string, PartValue | undefined>) {
  const nowMs = Date.now()
  const parts = partsOf(document, nowMs)
  for (const [path, value] of values) setPart(parts, path, value, nowMs)
  return documentOf(parts)
}
