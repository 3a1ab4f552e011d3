import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import type { GivenDocument, SettingsChange } from '../../limiter/settings-document.js'
import { type SharedSettings, settingsKey, sharedSettings } from '../../settings/shared-settings.js'
import type { Store } from '../../stores/store.js'
import { messageOf } from '../../stores/store-error.js'
import { isSameJson } from '../../util/same-json.js'
import { isObject } from '../../util/values.js'
import { InputError, UsageError } from '../failures.js'
import type { SettingsRequest } from './arguments.js'
import { editFor } from './edits.js'
import { copyInMemory } from './open-store.js'

/** Makes a change with its origin. Resolves once it is made. */
type MakeChange = (settings: SharedSettings, origin: Origin) => Promise<unknown>

interface Origin {
  readonly by: string
  readonly reason: string
  readonly id: string
  readonly basedOn?: string | null
}

/** Thrown by an edit that changes nothing, so that the history has no entry of it. */
class Unchanged extends Error {}

/**
 * Makes the change that a command line asks for, or tries it on a copy in memory. Resolves with the change;
 * `undefined` if there was nothing to change.
 */
export async function makeChange(
  store: Store,
  request: SettingsRequest,
): Promise<SettingsChange | undefined> {
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
  const changes = await settings.changes(limiter)
  return changes.find((change) => change.id === id) ?? { id, by, reason, atMs: Date.now() }
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

/** Reads a whole document from a file: the document itself, or what `show --json` printed. */
async function readEdit({ limiter, rest, base, isForced }: SettingsRequest): Promise<MakeChange> {
  const [path, extra] = rest
  if (path === undefined || extra !== undefined)
    throw new UsageError('settings edit requires one file with a document, or - for the standard input')
  const value = await readJson(path)
  const isShown = isObject(value) && isObject(value.document)
  const document = (isShown ? value.document : value) as GivenDocument
  const basedOn = base ?? (isShown && isBase(value.base) ? value.base : base)
  if (isForced)
    return (settings, { by, reason, id }) => settings.change(limiter, document, { by, reason, id })
  if (basedOn === undefined)
    throw new UsageError(
      `--base is required: the version that settings show ${limiter} printed when you copied the document`,
    )
  return async (settings, origin) => {
    const full = basedOn === null ? null : await fullId(settings, limiter, basedOn)
    return settings.change(limiter, document, { ...origin, basedOn: full })
  }
}

const isBase = (value: unknown): value is string | null => value === null || typeof value === 'string'

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(path === '-' ? await text(process.stdin) : await readFile(path, 'utf8'))
  } catch (error) {
    const place = path === '-' ? 'the standard input' : path
    throw new InputError(`cannot read a document from ${place}: ${messageOf(error)}`)
  }
}

/** Returns the `id` of the change that begins so; the text itself if none does, or several do. */
async function fullId(settings: SharedSettings, limiter: string, text: string): Promise<string> {
  const ids = (await settings.changes(limiter)).map(({ id }) => id)
  const found = ids.filter((id) => id.startsWith(text))
  if (found.length > 1 && !ids.includes(text))
    throw new InputError(`several changes have an id that begins with ${text}: write more of it`)
  return ids.includes(text) ? text : (found[0] ?? text)
}
