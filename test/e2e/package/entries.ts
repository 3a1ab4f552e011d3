import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './run.js'

/** An entry of the package. */
export interface Entry {
  /** Of its file in `src` and `dist`. */
  readonly name: string
  /** What projects import. */
  readonly specifier: string
}

const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

export const ENTRIES: readonly Entry[] = Object.keys(exports)
  .filter((path) => path !== './package.json')
  .map((path) => ({ name: path === '.' ? 'index' : path.slice(2), specifier: path.replace('.', 'headgate') }))
