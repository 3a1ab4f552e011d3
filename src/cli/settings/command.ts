import { SettingsConflictError } from '../../settings/conflict.js'
import { sharedSettings } from '../../settings/shared-settings.js'
import { StoreError } from '../../stores/store-error.js'
import { InputError, PartialOutputError } from '../failures.js'
import { jsonText } from '../output.js'
import { parseSettingsArguments, type SettingsRequest } from './arguments.js'
import { change } from './change.js'
import { type OpenStore, openStore } from './open-store.js'
import { readLimits, readSettings } from './read.js'
import { conflictText, historyText, showText } from './report-text.js'

/** Runs `headgate settings`. Returns what it prints. */
export async function settingsCommand(args: readonly string[]): Promise<string> {
  const request = parseSettingsArguments(args, process.env)
  const opened = await openStore(request.store, request.keyPrefix)
  try {
    return await ACTIONS[request.action](opened, request)
  } catch (error) {
    if (error instanceof SettingsConflictError) throw conflictFailure(error, request)
    if (!(error instanceof StoreError || error instanceof TypeError)) throw error
    throw new InputError(opened.shown(withShellFix(error.message, request)))
  } finally {
    await opened.close()
  }
}

type Run = (opened: OpenStore, request: SettingsRequest) => Promise<string>

async function show(opened: OpenStore, request: SettingsRequest): Promise<string> {
  const { limiter, json } = request
  const [limits, { document, parts, base }] = await Promise.all([
    readLimits(opened, request),
    readSettings(opened, request),
  ])
  const shown = { limiter, base, limits, parts }
  return json ? jsonText({ limiter, base, document, limits, parts }) : showText(shown)
}

async function history({ store }: OpenStore, { limiter, prefix, json }: SettingsRequest): Promise<string> {
  const settings = sharedSettings(store, { prefix })
  const changes = await settings.changes(limiter)
  if (changes.length === 0) await settings.read(limiter) // rejects if the document is damaged
  return json ? jsonText({ limiter, changes }) : historyText(changes)
}

const ACTIONS: Readonly<Record<SettingsRequest['action'], Run>> = {
  show,
  history,
  set: change,
  unset: change,
  exempt: change,
  block: change,
  override: change,
  remove: change,
  candidate: change,
  edit: change,
  undo: change,
}

/** Returns a message with a fix for the shell, in place of one for code. */
function withShellFix(message: string, { limiter }: SettingsRequest): string {
  return message
    .replace(/(?:Write|Replace) it with settings\.change\..*$/s, () => {
      return `Replace it: headgate settings edit ${limiter} <file> --force.`
    })
    .replace('Pass an id that settings.changes returns.', `headgate settings history ${limiter} lists them.`)
}

/** Returns the failure of a change that conflicts with others, which prints the difference. */
function conflictFailure(error: SettingsConflictError, { limiter, json }: SettingsRequest): InputError {
  const { message, parts, changes } = error
  const printed = json ? jsonText({ limiter, conflicts: parts, changes }) : conflictText(error)
  return new PartialOutputError(message, printed)
}
