import { randomUUID } from 'node:crypto'
import type { SettingsChange, SettingsDocument } from '../../limiter/settings-document.js'
import { sharedSettings } from '../../settings/shared-settings.js'
import type { Store } from '../../stores/store.js'
import { isSameJson } from '../../util/same-json.js'
import { UsageError } from '../failures.js'
import type { SettingsRequest } from './arguments.js'
import { editFor } from './edits.js'
import { fullId, type MakeChange, type RequestedChange, Unchanged } from './make-change.js'
import { readEdit } from './whole-document.js'

/** A change, and the document after it. */
export interface MadeChange {
  readonly change: SettingsChange
  readonly document: SettingsDocument
}

/**
 * Makes a change that a command line asks for. Resolves with the change; `undefined` if there was nothing to change.
 */
export async function makeChange(
  store: Store,
  { limiter, prefix, by, reason, base }: SettingsRequest,
  make: MakeChange,
): Promise<MadeChange | undefined> {
  const settings = sharedSettings(store, { prefix })
  const id = randomUUID()
  const basedOn = typeof base === 'string' ? await fullId(settings, limiter, base) : base
  try {
    await make(settings, { by, reason, id, ...(basedOn !== undefined && { basedOn }) })
  } catch (error) {
    if (error instanceof Unchanged) return undefined
    throw error
  }
  const { document, changes } = await settings.readWithChanges(limiter)
  const change = changes.find((each) => each.id === id) ?? { id, by, reason, atMs: Date.now() }
  return { change, document }
}

/** Reads what a command line wants to change. Rejects with a `UsageError` or an `InputError`. */
export async function readChange(store: Store, request: SettingsRequest): Promise<RequestedChange> {
  const { action, limiter, rest, prefix } = request
  if (action === 'edit') return readEdit(sharedSettings(store, { prefix }), request)
  if (action === 'undo') {
    const [id, extra] = rest
    if (id === undefined || extra !== undefined)
      throw new UsageError(
        `settings undo requires the id of one change: settings history ${limiter} lists them`,
      )
    return {
      make: async (settings, origin) => settings.undo(limiter, await fullId(settings, limiter, id), origin),
    }
  }
  const edit = editFor(request)
  const edited = (document: SettingsDocument) => {
    const after = edit(document)
    if (isSameJson(after, document)) throw new Unchanged()
    return after
  }
  return { make: (settings, origin) => settings.change(limiter, edited, origin) }
}
