import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { blocksOf } from '../docs/pages.js'

const ROOT = resolve(__dirname, '../../..')
const PATH = 'docs/recipes.md'

/** Code of the page about recipes, in a file of its own. */
export interface Recipe {
  readonly file: string
  remove(): void
}

/** Stops the clock of limiters in memory, so that a slow machine gets no units back during a test. */
const STOPPED_CLOCK = `
import { memoryStore } from 'headgate'
import { manualClock } from 'headgate/testing'

const store = memoryStore({ clock: manualClock() })
`

/**
 * Writes a recipe's code into a file: the block under this heading, the first one or the one at `index`. A
 * server listens on a free port instead of the one of the page. A limiter without a store does not see time
 * pass, and one with a store waits for it.
 */
export function writeRecipe(heading: string, index = 0): Recipe {
  return writeCode(patient(codeUnder(PATH, heading, index).replace(/\bport: \d+/, 'port: 0')))
}

/** Returns the code of a page under this heading: that of the first block or of the one at `index`. */
export function codeUnder(path: string, heading: string, index = 0): string {
  const text = readFileSync(join(ROOT, path), 'utf8')
  const lines = text.split('\n')
  const from = lines.indexOf(`## ${heading}`)
  if (from < 0) throw new Error(`${path} has no heading "${heading}"`)
  const next = lines.findIndex((line, i) => i > from && line.startsWith('## '))
  const to = next < 0 ? lines.length : next
  const blocks = blocksOf({ path, text }).filter(({ line }) => line > from && line <= to)
  const block = blocks[index]
  if (block === undefined) throw new Error(`${path} has no block ${index} under "${heading}"`)
  return block.code
}

/** Writes code into a file from which it can import what this checkout has installed. */
export function writeCode(code: string): Recipe {
  mkdirSync(join(ROOT, '.cache'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, '.cache/recipe-'))
  const file = join(folder, 'recipe.ts')
  writeFileSync(file, code)
  return { file, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Keeps a busy machine from changing what a limiter decides. */
function patient(code: string): string {
  const isInMemory = !/\bstore\b/.test(code)
  const added = isInMemory ? 'store' : "timeout: '10s'"
  return (isInMemory ? STOPPED_CLOCK : '') + code.replace(/\b(createLimiter|rateLimit)\(\{/g, `$&${added}, `)
}
