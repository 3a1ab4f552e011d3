import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The text of a file, and its encoding. */
export type FileSource = readonly [encoding: 'utf8' | 'base64', text: string]

/** The files of uPlot, the library of the charts. */
const CHART_FILES = ['uPlot.esm.js', 'uPlot.min.css']

/**
 * Reads the files of the page, by name. The build replaces this module with one that contains their text:
 * bundlers copy only code, so a bundled application has no folder with the files.
 */
export function readPageSource(): Readonly<Record<string, FileSource>> {
  const folder = fileURLToPath(new URL('../page/', import.meta.url))
  const names = readdirSync(folder)
  const { resolve } = createRequire(import.meta.url)
  const charts = CHART_FILES.filter((name) => !names.includes(name))
  const paths = [
    ...names.map((name) => folder + name),
    ...charts.map((name) => resolve(`uplot/dist/${name}`)),
  ]
  return Object.fromEntries(paths.map((path) => [path.replace(/.*[\\/]/, ''), sourceOf(path)]))
}

function sourceOf(path: string): FileSource {
  const encoding = extname(path) === '.woff2' ? 'base64' : 'utf8'
  return [encoding, readFileSync(path, encoding)]
}
