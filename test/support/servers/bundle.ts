import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const ROOT = process.cwd() // as npm and Jest have it

/** What packages of the older kind expect around them. */
export const AROUND = `
import { createRequire as requireFrom } from 'node:module'
const require = requireFrom(import.meta.url)
const __dirname = import.meta.dirname`

/** A program in one file. */
export interface Bundle {
  readonly path: string
  /** The folder of that one file. */
  readonly folder: string
  remove(): Promise<void>
}

/**
 * Puts a program of this checkout, with all that it imports, into one file. A process that runs it is there
 * in a third of a second, and one that compiles each import, as tsx does, in one and a half.
 */
export function bundle(entry: string): Promise<Bundle> {
  return bundleInto(tmpdir(), entry, [`--banner:js=${AROUND.trim()}`])
}

/**
 * The same, but packages stay where they are installed: those of Nest look for others, which may be missing.
 * The file has no folder of its sources: it reads no files beside them.
 */
export async function bundleSources(entry: string): Promise<Bundle> {
  const cache = join(ROOT, '.cache') // packages are found from there
  await mkdir(cache, { recursive: true })
  return bundleInto(cache, entry, ['--packages=external'])
}

async function bundleInto(parent: string, entry: string, own: readonly string[]): Promise<Bundle> {
  const folder = await mkdtemp(join(parent, 'headgate-bundle-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  const path = join(folder, 'main.mjs')
  // The benchmarks' own settings would take what the last build left for the sources.
  const settings = `--tsconfig=${join(ROOT, 'tsconfig.json')}`
  const flags = [
    settings,
    '--bundle',
    '--platform=node',
    '--format=esm',
    '--target=node20',
    '--log-level=warning',
  ]
  try {
    const esbuild = join(ROOT, 'node_modules/.bin/esbuild')
    await run(esbuild, [entry, ...flags, ...own, `--outfile=${path}`], { cwd: ROOT })
  } catch (error) {
    await remove()
    throw error
  }
  return { path, folder, remove }
}
