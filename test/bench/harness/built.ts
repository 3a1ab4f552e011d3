import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const CACHE = join(ROOT, '.cache')

/**
 * Imports a module of `src` that no entry exports, compiled as the package is: tsx compiles it to slower
 * code. `path` is relative to `src`.
 */
export async function built<Module>(path: string): Promise<Module> {
  mkdirSync(CACHE, { recursive: true })
  const folder = mkdtempSync(join(CACHE, 'bench-'))
  try {
    const build = await rolldown({ input: join(ROOT, 'src', path), platform: 'node' })
    const file = join(folder, 'built.mjs')
    await build.write({ file, format: 'esm' })
    await build.close()
    return (await import(pathToFileURL(file).href)) as Module
  } finally {
    rmSync(folder, { recursive: true })
  }
}
