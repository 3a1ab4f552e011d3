import type { SettingsChange } from '../../limiter/settings-document.js'
import { settingsKey, sharedSettings } from '../../settings/shared-settings.js'
import type { Store } from '../../stores/store.js'
import { messageOf, StoreError } from '../../stores/store-error.js'
import type { ChangePreview } from '../../tuning/preview/preview-change.js'
import { InputError } from '../failures.js'
import { jsonText } from '../output.js'
import type { SettingsRequest } from './arguments.js'
import { confirm, hasTerminal } from './confirm.js'
import type { MakeChange } from './make-change.js'
import { copyInMemory, type OpenStore } from './open-store.js'
import { previewChange } from './preview.js'
import { previewText } from './preview-text.js'
import { readLimits, unknownLimitsIn } from './read.js'
import { differenceText, savedText } from './report-text.js'
import { makeChange, readChange } from './write.js'

const NOTHING = 'nothing to change\n'

/** What a change would do, as it was tried on a copy. */
interface TriedChange {
  readonly change: SettingsChange
  readonly unknownLimits: readonly string[]
  /** What it would have done; a text is why that is not known. */
  readonly preview: ChangePreview | string
  /** The version that it was tried on. */
  readonly base: string | null | undefined
}

/** Shows what a change would do, and saves it. Returns what is still to be printed. */
export async function change(opened: OpenStore, request: SettingsRequest): Promise<string> {
  const { make, edited } = await readChange(opened.store, request)
  try {
    const text = await showAndSave(opened, request, make)
    await edited?.remove()
    return text
  } catch (error) {
    if (edited !== undefined) process.stderr.write(`headgate: what you edited is kept in ${edited.path}\n`)
    throw error
  }
}

async function showAndSave(opened: OpenStore, request: SettingsRequest, make: MakeChange): Promise<string> {
  const { isDryRun } = request
  const copy = await copyOf(opened.store, request)
  if (copy === undefined) return save(opened, request, make)
  const tried = await tryOn(copy, opened, request, make)
  if (isDryRun || tried === undefined) return resultText(request, tried, tried?.change)
  return save(opened, await confirmed(request, tried), make, tried)
}

/** Returns a copy to try a change on; `undefined` if the document is damaged, which a change may repair. */
async function copyOf(
  store: Store,
  { prefix, limiter, isDryRun }: SettingsRequest,
): Promise<Store | undefined> {
  try {
    return await copyInMemory(store, settingsKey(prefix, limiter))
  } catch (error) {
    if (isDryRun || !(error instanceof InputError)) throw error
    return undefined
  }
}

async function tryOn(
  copy: Store,
  opened: OpenStore,
  request: SettingsRequest,
  make: MakeChange,
): Promise<TriedChange | undefined> {
  const { prefix, limiter, isDryRun } = request
  const before = await sharedSettings(copy, { prefix }).readWithChanges(limiter).catch(unlessInvalid)
  const made = await makeChange(copy, request, make)
  if (made === undefined) return undefined
  const unknownLimits = unknownLimitsIn(made.change, await readLimits(opened, request))
  const preview =
    before === undefined
      ? 'the document before the change is invalid'
      : await previewChange(opened, request, before.document, made.document).catch((error) => {
          if (isDryRun || !(error instanceof StoreError)) throw error
          return opened.shown(messageOf(error)) // the change may be urgent
        })
  return { change: made.change, unknownLimits, preview, base: before && (before.changes[0]?.id ?? null) }
}

function unlessInvalid(error: unknown): undefined {
  if (!(error instanceof TypeError)) throw error
}

/**
 * Prints what a change would do and, on a terminal, asks the operator whether to save it. Resolves with the request,
 * which is then based on what was shown.
 */
async function confirmed(request: SettingsRequest, tried: TriedChange): Promise<SettingsRequest> {
  const { json, isConfirmed, rest, base = tried.base } = request
  const isAsked = !isConfirmed && rest[0] !== '-' && hasTerminal()
  if (!json || isAsked) process[isAsked ? 'stderr' : 'stdout'].write(triedText(request, tried))
  if (!isAsked) return request
  await confirm('Save this change?')
  return { ...request, base }
}

async function save(
  { store, shown }: OpenStore,
  request: SettingsRequest,
  make: MakeChange,
  tried?: TriedChange,
): Promise<string> {
  const made = await makeChange(store, request, make).catch((error) => {
    if (!(error instanceof StoreError && error.unsent)) throw error
    throw new InputError(`nothing was changed: ${shown(messageOf(error))}`)
  })
  return resultText(request, made && tried, made?.change)
}

/** Returns what is still to be printed once a change was tried or saved; `undefined` if there was nothing to change. */
function resultText(
  request: SettingsRequest,
  tried: TriedChange | undefined,
  change: SettingsChange | undefined,
): string {
  const { limiter, isDryRun, json } = request
  const { unknownLimits = [], preview } = tried ?? {}
  if (json) {
    const previewed = preview === undefined || typeof preview === 'string' ? {} : { preview }
    return jsonText({ limiter, dryRun: isDryRun, change: change ?? null, unknownLimits, ...previewed })
  }
  if (change === undefined) return NOTHING
  if (isDryRun) return `${tried ? triedText(request, tried) : ''}dry run: nothing was changed\n`
  return `${tried ? '' : differenceText(limiter, change, [])}${savedText(limiter, change)}`
}

function triedText({ limiter }: SettingsRequest, { change, unknownLimits, preview }: TriedChange): string {
  return differenceText(limiter, change, unknownLimits) + previewText(preview)
}
