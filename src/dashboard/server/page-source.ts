import { readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The text of a file, and its encoding. */
export type FileSource = readonly [encoding: 'utf8' | 'base64', text: string]

/**
 * Reads the files of the page, by name. The build replaces this module with one that contains their text:
 * bundlers copy only code, so a bundled application has no folder with the files.
 */
export function readPageSource(): Readonly<Record<string, FileSource>> {
  const folder = fileURLToPath(new URL('../page/', import.meta.url))
  return Object.fromEntries(readdirSync(folder).map((name) => [name, sourceOf(folder + name)]))
}

function sourceOf(path: string): FileSource {
  const encoding = extname(path) === '.woff2' ? 'base64' : 'utf8'
  return [encoding, readFileSync(path, encoding)]
}
