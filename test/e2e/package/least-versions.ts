import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './run.js'

/** The pages that name the clients of a store, with the least version of each. */
const PAGES = ['redis', 'memcached', 'mysql', 'postgresql'].map((name) => `docs/stores/${name}.md`)

/** Matches a client on these pages: `npm install pg`, version 8.2. */
const NAMED = /`(?:npm install )?([\w@/-]+)`, version ([\d.]*\d)/g

/** Returns the least version of each package that a text names, in full. */
function named(text: string, pattern: RegExp): Record<string, string> {
  return Object.fromEntries(
    Array.from(text.matchAll(pattern), ([, name = '', version = '']) => [name, inFull(version)]),
  )
}

/** Returns a version with all of its three numbers. */
export function inFull(version: string): string {
  return [...version.split('.'), '0', '0'].slice(0, 3).join('.')
}

const read = (page: string) => readFileSync(join(ROOT, page), 'utf8')

/** The least version of each client that the docs name. */
export const LEAST_CLIENTS = named(PAGES.map(read).join('\n'), NAMED)

/** The least versions that the table of entries names, such as `fastify` 5 or 4. */
export const LEAST_BY_ENTRY = named(read('docs/entries.md'), /`([\w@/-]+)` (?:\d+ or )?([\d.]*\d)/g)

/** The least versions that package.json accepts. */
export const LEAST_PEERS = Object.fromEntries(
  Object.entries<string>(JSON.parse(read('package.json')).peerDependencies).map(([name, range]) => [
    name,
    inFull(range.replace(/^>=/, '')),
  ]),
)
