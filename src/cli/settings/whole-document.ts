import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { GivenDocument } from '../../limiter/settings-document.js'
import type { SharedSettings } from '../../settings/shared-settings.js'
import { messageOf } from '../../stores/store-error.js'
import { isObject } from '../../util/values.js'
import { InputError, UsageError } from '../failures.js'
import type { SettingsRequest } from './arguments.js'
import { fullId, type MakeChange, type RequestedChange, Unchanged } from './make-change.js'

/**
 * Reads a whole document from a file: the document itself, or what `show --json` printed. Without a file, the
 * operator's editor opens the latest document.
 */
export async function readEdit(settings: SharedSettings, request: SettingsRequest): Promise<RequestedChange> {
  const { rest, isForced } = request
  const [path, extra] = rest
  if (extra !== undefined)
    throw new UsageError(`settings edit takes one file, also got ${JSON.stringify(extra)}`)
  if (path === undefined && isForced) throw new UsageError('--force requires a file with a document')
  if (path === undefined) return inEditor(settings, request, editorCommand(process.env))
  return { make: await fromFile(path, request) }
}

async function fromFile(path: string, { limiter, base, isForced }: SettingsRequest): Promise<MakeChange> {
  const value = await readJson(path)
  const isShown = isObject(value) && isObject(value.document)
  const document = (isShown ? value.document : value) as GivenDocument
  const basedOn = base ?? (isShown && isBase(value.base) ? value.base : base)
  if (isForced) return (settings, origin) => settings.change(limiter, document, origin)
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

/** Returns the editor of an operator, as git and kubectl find it. Throws a `UsageError` if there is none. */
function editorCommand({ VISUAL, EDITOR }: NodeJS.ProcessEnv): string {
  const command = VISUAL || EDITOR
  if (command) return command
  throw new UsageError(
    'settings edit requires a file with a document, or an editor: set EDITOR, such as EDITOR=vi',
  )
}

/** Lets the operator edit the latest document, once. What was edited stays in a file until it is removed. */
async function inEditor(
  settings: SharedSettings,
  { limiter, base }: SettingsRequest,
  command: string,
): Promise<RequestedChange> {
  const { document, changes } = await settings.readWithChanges(limiter)
  const folder = await mkdtemp(join(tmpdir(), 'headgate-settings-'))
  const path = join(folder, `${limiter}.json`)
  const before = `${JSON.stringify(document, null, 2)}\n`
  await writeFile(path, before)
  let edited: string | undefined
  const own = base === undefined ? { basedOn: changes[0]?.id ?? null } : {}
  return {
    edited: { path, remove: () => rm(folder, { recursive: true }) },
    async make(target, origin) {
      if (edited === undefined) openEditor(command, path)
      edited = await readFile(path, 'utf8')
      if (edited === before) throw new Unchanged()
      return target.change(limiter, (await readJson(path)) as GivenDocument, { ...origin, ...own })
    },
  }
}

/** Opens an editor, which may be a command with arguments, and waits until it is closed. */
function openEditor(command: string, path: string): void {
  const { status, error } = spawnSync(`${command} "${path}"`, { shell: true, stdio: 'inherit' })
  if (status === 0) return
  throw new InputError(
    `the editor ${command} failed: ${error === undefined ? `exit code ${status}` : error.message}`,
  )
}
