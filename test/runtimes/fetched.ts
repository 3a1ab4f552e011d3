import { join } from 'node:path'
import { fetchLocked } from '../e2e/package/fetched.js'

/** Returns the path of a file in the packages of the runtimes, without Next.js. */
export async function inRuntimes(path: string): Promise<string> {
  const folder = await fetchLocked('runtimes', join(__dirname, 'packages'))
  return join(folder, 'node_modules', path)
}

/** Returns the folder that has Next.js in its node_modules. */
export function fetchNext(): Promise<string> {
  return fetchLocked('next-15', join(__dirname, 'next/packages'))
}
