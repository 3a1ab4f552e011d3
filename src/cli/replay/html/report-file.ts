import { randomBytes } from 'node:crypto'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { InputError } from '../../failures.js'
import { printable } from '../../output.js'

/** A file that appears whole, or not at all. */
export interface ReportFile {
  /** Writes the file, in place of one that was there. Rejects with an `InputError`: discard it then. */
  finish(text: string): Promise<void>
  /** Leaves what was there before. */
  discard(): Promise<void>
}

/**
 * Opens a file beside the one at `path`, so that a folder that cannot be written is noticed before hours of logs
 * are read. Rejects with an `InputError`.
 */
export async function openReportFile(path: string): Promise<ReportFile> {
  const unfinished = `${path}.${randomBytes(4).toString('hex')}.tmp`
  const handle = await attempt(path, () => open(unfinished, 'wx'))
  const discard = async () => {
    await handle.close()
    await rm(unfinished, { force: true })
  }
  return {
    discard,
    finish: (text) => attempt(path, () => writeAs(handle, unfinished, path, text)),
  }
}

async function writeAs(handle: FileHandle, unfinished: string, path: string, text: string): Promise<void> {
  await handle.writeFile(text)
  await handle.close()
  await rename(unfinished, path)
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'there is no such folder',
  EACCES: 'the folder may not be written',
  EPERM: 'the folder may not be written',
  EROFS: 'the folder may not be written',
  EISDIR: 'it is a folder',
  ENOSPC: 'the disk is full',
}

async function attempt<T>(path: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    throw new InputError(`cannot write ${printable(path)}: ${REASONS[code] ?? message}`)
  }
}
