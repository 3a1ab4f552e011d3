import { randomBytes } from 'node:crypto'
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { messageOf } from '../../../stores/store-error.js'
import { InputError } from '../../failures.js'
import { printable } from '../../output.js'

/** A file that appears whole, or not at all. */
export interface ReportFile {
  /** As it was given. */
  readonly path: string
  /** Writes the file, in place of one that was there. Rejects with an `InputError`: discard it then. */
  finish(text: string): Promise<void>
  /** Leaves what was there before. */
  discard(): Promise<void>
}

/**
 * Opens a file beside the one at `path`, so that a path that cannot be written is noticed before hours of
 * logs are read. A symbolic link stays one: its target is written. Rejects with an `InputError`, also if
 * something else than a regular file is there.
 */
export async function openReportFile(path: string): Promise<ReportFile> {
  const target = await attempt(path, () => targetOf(path))
  const unfinished = join(dirname(target), `.headgate-${randomBytes(6).toString('hex')}.tmp`)
  const handle = await attempt(path, () => open(unfinished, 'wx'))
  const discard = async () => {
    await handle.close()
    await rm(unfinished, { force: true })
  }
  return {
    path,
    discard,
    finish: (text) => attempt(path, () => writeAs(handle, unfinished, target, text)),
  }
}

/** Returns the file that is replaced: renaming onto a link or a device would remove it. */
async function targetOf(path: string): Promise<string> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (found === undefined) return path
  if (found.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' })
  if (!found.isFile()) throw Object.assign(new Error('it is not a regular file'), { code: 'EINVAL' })
  return realpath(path)
}

async function writeAs(handle: FileHandle, unfinished: string, target: string, text: string): Promise<void> {
  await handle.writeFile(text)
  await handle.sync()
  await handle.close()
  await rename(unfinished, target)
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'there is no such folder',
  EACCES: 'the folder is not writable',
  EPERM: 'the folder is not writable',
  EROFS: 'the folder is not writable',
  EISDIR: 'it is a folder',
  ENOSPC: 'the disk is full',
  ENAMETOOLONG: 'the name is too long',
}

async function attempt<T>(path: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    const { code }: { readonly code?: unknown } = error ?? {}
    throw new InputError(`cannot write ${printable(path)}: ${REASONS[String(code)] ?? messageOf(error)}`)
  }
}
