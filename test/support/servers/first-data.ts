import { execFile } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { lstat, mkdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The files that a server finds at its first start. */
export interface FirstData {
  /** The program that they are for: those of another version are others. */
  readonly program: string
  /** What else they depend on. */
  readonly settings: readonly string[]
  /** The names that they have in the server's folder. */
  readonly files: readonly string[]
  /** Makes them there. */
  make(): Promise<unknown>
}

/**
 * Puts a server's first files into its folder. The first server of its kind on this machine makes them,
 * which takes a second or two, and keeps an archive, from which the others unpack theirs. The archive gets
 * its name when it is whole, so it does not matter who else makes one at the same time, nor how a process
 * that makes one ends. It lies `beside` what else is temporary.
 */
export async function layFirstData(folder: string, data: FirstData, beside = tmpdir()): Promise<void> {
  const archive = join(await archivesOfThisUser(beside), `${await keyOf(data)}.tar`)
  if (existsSync(archive)) {
    await run('tar', ['-xpf', archive, '-C', folder])
    return
  }
  await data.make()
  const fresh = `${archive}.${randomUUID()}`
  try {
    await run('tar', ['-cf', fresh, '-C', folder, ...data.files])
    await rename(fresh, archive)
  } finally {
    await rm(fresh, { force: true })
  }
}

/** A folder that no other user can read or write: its files become the settings of a server. */
async function archivesOfThisUser(beside: string): Promise<string> {
  const uid = process.getuid?.()
  const folder = join(beside, `headgate-data-${uid ?? 'here'}`)
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  const found = await lstat(folder)
  const isOurs = uid === undefined || (found.uid === uid && (found.mode & 0o077) === 0)
  if (found.isDirectory() && isOurs) return folder
  throw new Error(`${folder} must be a folder that user ${uid} has alone. Remove it.`)
}

async function keyOf({ program, settings, files }: FirstData): Promise<string> {
  const path = await realpath(program)
  const { size, mtimeMs } = await stat(path)
  const all = JSON.stringify([path, size, mtimeMs, settings, files])
  return createHash('sha256').update(all).digest('hex').slice(0, 32)
}
