import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fetchLocked } from '../package/fetched.js'
import { ROOT } from '../package/run.js'
import type { Block } from './pages.js'

/** Packages that code blocks import and that are too large for the root: their cache, and their lock file. */
const FETCHED: Readonly<Record<string, string>> = {
  orms: join(__dirname, '../recipes/orms'),
  glide: join(__dirname, '../../integration/redis/glide-packages'),
  dynamodb: join(__dirname, '../../integration/dynamodb/packages'),
}

/** Makes the fetched packages that blocks import available to the modules of a folder. */
export async function linkFetchedPackages(
  folder: string,
  blocks: readonly Pick<Block, 'code'>[],
): Promise<void> {
  for (const [cache, locked] of Object.entries(FETCHED)) {
    const { dependencies } = JSON.parse(readFileSync(join(locked, 'package.json'), 'utf8'))
    const names = Object.keys(dependencies).filter((name) => !existsSync(join(ROOT, 'node_modules', name)))
    const isImported = (name: string) => blocks.some(({ code }) => code.includes(`from '${name}`))
    if (!names.some(isImported)) continue
    const fetched = await fetchLocked(cache, locked)
    for (const name of names) link(join(fetched, 'node_modules', name), join(folder, 'node_modules', name))
  }
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(target, path)
}
