import { cp, mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { type Bundle, bundle } from './bundle.js'

const ROOT = join(__dirname, '../../..')

/**
 * Puts a program with a dashboard into one file, as `bundle` does, and the page beside its folder: there the
 * build has it, too.
 */
export async function bundleWithPage(entry: string): Promise<Bundle> {
  const { path, folder, remove } = await bundle(entry)
  const code = join(folder, 'code')
  const page = join(folder, 'page')
  await mkdir(code)
  await rename(path, join(code, 'main.mjs'))
  await cp(join(ROOT, 'src/dashboard/page'), page, { recursive: true })
  return { path: join(code, 'main.mjs'), folder: code, remove }
}
