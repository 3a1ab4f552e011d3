import { execFile } from 'node:child_process'
import { chmod, mkdtemp, open, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Fault, Stage } from './stage.js'

const run = promisify(execFile)
const CHUNK = Buffer.alloc(2 ** 20)
const MOST_CHUNKS = 1000
const FULL_MS = 2000

/** Only root can mount a small disk. */
export const CAN_MOUNT = process.platform === 'linux' && process.getuid?.() === 0

/** A small disk of its own for a server. */
export interface SmallDisk {
  readonly folder: string
  /** Fills it with other data, which are removed after a while. */
  fillForAWhile(): Promise<void>
  stop(): Promise<void>
}

export async function mountSmallDisk(sizeMb: number): Promise<SmallDisk> {
  const folder = await mkdtemp(join(tmpdir(), 'headgate-disk-'))
  await run('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m`, 'headgate', folder])
  await chmod(folder, 0o755)
  const filler = join(folder, 'filler')
  return {
    folder,
    async fillForAWhile() {
      await fill(filler)
      await pause(FULL_MS)
      await rm(filler)
    },
    async stop() {
      await run('umount', [folder])
      await rmdir(folder)
    },
  }
}

async function fill(path: string): Promise<void> {
  const file = await open(path, 'w')
  try {
    for (let i = 0; i < MOST_CHUNKS; i++) await file.appendFile(CHUNK)
    throw new Error('The disk of this fault is larger than it should be.')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  } finally {
    await file.close()
  }
}

/** Starts a server on a disk of its own: servers make their folders where `TMPDIR` says. */
export async function onSmallDisk<S extends Stage>(
  sizeMb: number,
  start: () => Promise<S>,
): Promise<S & { readonly disk: SmallDisk }> {
  const disk = await mountSmallDisk(sizeMb)
  const before = process.env.TMPDIR
  process.env.TMPDIR = disk.folder
  try {
    const stage = await start()
    const stop = async () => {
      await stage.stop()
      await disk.stop()
    }
    return { ...stage, disk, stop }
  } catch (error) {
    await disk.stop()
    throw error
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
}

export const diskFull: Fault<Stage & { readonly disk: SmallDisk }> = {
  name: 'disk full',
  inflict: ({ disk }) => disk.fillForAWhile(),
}
