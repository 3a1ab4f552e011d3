import { randomUUID } from 'node:crypto'
import type { SettingsChange, SettingsDocument } from '../../limiter/settings-document.js'
import { settingsKey, sharedSettings } from '../../settings/shared-settings.js'
import type { Store } from '../../stores/store.js'
import { isSameJson } from '../../util/same-json.js'
import { UsageError } from '../failures.js'
import type { SettingsRequest } from './arguments.js'
import { editFor } from './edits.js'
import { fullId, type MakeChange, Unchanged } from './make-change.js'
import { copyInMemory } from './open-store.js'
import { readEdit } from './whole-document.js'

/** A change, and the document after it. */
export interface MadeChange {
  readonly change: SettingsChange
  readonly document: SettingsDocument
}

/**
 * Makes the change that a command line asks for, or tries it on a copy in memory. Resolves with the change;
 * `undefined` if there was nothing to change.
 */
export async function makeChange(store: Store, request: SettingsRequest): Promise<MadeChange | undefined> {
  const { limiter, prefix, by, reason, base, isDryRun } = request
  const make = await readChange(request)
  const target = isDryRun ? await copyInMemory(store, settingsKey(prefix, limiter)) : store
  const settings = sharedSettings(target, { prefix })
  const id = randomUUID()
  const basedOn = typeof base === 'string' ? await fullId(settings, limiter, base) : base
  try {
    await make(settings, { by, reason, id, ...(basedOn !== undefined && { basedOn }) })
  } catch (error) {
    if (error instanceof Unchanged) return undefined
    throw error
  }
  const { document, changes } = await settings.readWithChanges(limiter)
  return { change: changes.find((each) => each.id === id) ?? { id, by, reason, atMs: Date.now() }, document }
}

/** Reads what a command line wants to change. Rejects with a `UsageError` or an `InputError`. */
async function readChange(request: SettingsRequest): Promise<MakeChange> {
  const { action, limiter, rest } = request
  if (action === 'edit') return readEdit(request)
  if (action === 'undo') {
    const [id, extra] = rest
    if (id === undefined || extra !== undefined)
      throw new UsageError(
        `settings undo requires the id of one change: settings history ${limiter} lists them`,
      )
    return async (settings, origin) => settings.undo(limiter, await fullId(settings, limiter, id), origin)
  }
  const edit = editFor(request)
  return (settings, origin) =>
    settings.change(
      limiter,
      (document) => {
        const edited = edit(document)
        if (isSameJson(edited, document)) throw new Unchanged()
        return edited
      },
      origin,
    )
}
