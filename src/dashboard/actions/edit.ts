import type { Mode } from '../../limiter/access-rules.js'
import type { DescribedLimit } from '../../limiter/description.js'
import type {
  GivenDocument,
  PartValue,
  SettingsChange,
  SettingsDocument,
} from '../../limiter/settings-document.js'
import { overridePath } from '../../settings/parts.js'
import { wrongOption } from '../../util/validate.js'
import { fieldsOf, isObject } from '../../util/values.js'
import type { Watched } from '../figures/limiter-watch.js'
import { withParts } from './lift.js'
import { type ChangeAuthor, requireSettings } from './settings-of.js'

/** The most parts that an edit changes. */
const MAX_EDITED = 1000
/** The most parts of a change that the page is told. */
const MAX_SHOWN_PARTS = 20

/** Parts of a document by path, with their new values; `undefined` removes one. */
export type EditedParts = ReadonlyMap<string, PartValue | undefined>

/** The settings of a limiter, as the page edits them. */
export interface EditableSettings {
  readonly limiter: string
  /** The latest change; `null` if there is none. */
  readonly base: string | null
  readonly document: Omit<SettingsDocument, 'overrides'>
  readonly mode: Mode
  /** The limits in the code, and those in force in this process. */
  readonly codeLimits: readonly DescribedLimit[]
  readonly limits: readonly DescribedLimit[]
  readonly changes: readonly SettingsChange[]
}

/** Reads the settings of a limiter. Rejects if they cannot be read. */
export async function readEditable(watched: Watched): Promise<EditableSettings> {
  const { name, settings } = requireSettings(watched)
  const { document, changes } = await settings.readWithChanges(name)
  const { overrides: _overrides, ...rest } = document
  const { mode, limits } = watched.limiter.describe()
  return {
    limiter: watched.name,
    base: changes[0]?.id ?? null,
    document: rest,
    mode: mode.value,
    codeLimits: watched.inspection.codeLimits(),
    limits,
    changes: changes.map((change) =>
      change.parts ? { ...change, parts: change.parts.slice(0, MAX_SHOWN_PARTS) } : change,
    ),
  }
}

/** Reads the parts of an edit: `[{ path, value }]`, with `null` to remove one. Throws a `TypeError`. */
export function readParts(parts: unknown): EditedParts {
  if (!Array.isArray(parts) || parts.length === 0 || parts.length > MAX_EDITED)
    throw wrongOption('dashboard', 'parts', `an array of 1 to ${MAX_EDITED} parts`, parts)
  return new Map(parts.map((part: unknown, i) => readPart(part, `parts[${i}]`)))
}

const PATH = /^(?:mode|candidate|limits\..+|overrides\[.+\])$/s

function readPart(part: unknown, place: string): readonly [string, PartValue | undefined] {
  const { path, value } = fieldsOf(part)
  if (path === 'override' && isObject(value)) return [overridePath(value), value as PartValue]
  if (typeof path !== 'string' || !PATH.test(path))
    throw wrongOption('dashboard', `${place}.path`, 'mode, candidate, limits.… or overrides[…]', path)
  return [path, (value ?? undefined) as PartValue | undefined]
}

/**
 * Changes parts of the settings. Rejects with a `SettingsConflictError` if others have changed them since the
 * change `base`, and otherwise as `settings.change` does.
 */
export async function saveParts(
  watched: Watched,
  parts: EditedParts,
  base: string | null,
  author: ChangeAuthor,
): Promise<void> {
  const { name, settings } = requireSettings(watched)
  await settings.change(name, (document) => withParts(document, parts), { ...author, basedOn: base })
}

/** Returns the document, and the one that an edit would make, without changing anything. */
export async function editedDocument(
  watched: Watched,
  parts: EditedParts,
): Promise<{ readonly before: SettingsDocument; readonly after: GivenDocument }> {
  const { name, settings } = requireSettings(watched)
  const before = await settings.read(name)
  return { before, after: withParts(before, parts) }
}
