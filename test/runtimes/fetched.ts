import { join } from 'node:path'
import { fetchLocked } from '../e2e/package/fetched.js'

/** Returns the path of a file in the packages of the runtimes, which are in `.cache/runtimes`. */
export async function inRuntimes(path: string): Promise<string> {
  const folder = await fetchLocked('runtimes', join(__dirname, 'packages'))
  return join(folder, 'node_modules', path)
}
