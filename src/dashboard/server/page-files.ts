import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A file of the page. */
export interface PageFile {
  readonly type: string
  readonly content: Buffer
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
}

/** The files of uPlot, the library of the charts. The build puts them beside the page. */
const CHART_FILES = ['uPlot.esm.js', 'uPlot.min.css']

/**
 * Reads the files of the page, by name. They lie in a folder of this package, so they are missing if a
 * bundler has copied only its code: throws an `Error` with the fix then.
 */
export function readPageFiles(): ReadonlyMap<string, PageFile> {
  const folder = fileURLToPath(new URL('../page/', import.meta.url))
  if (!existsSync(folder)) {
    const fix = 'Mark headgate as external in the bundler, so that it is loaded from node_modules.'
    throw new Error(`dashboard: the files of the page are missing: there is no ${folder}. ${fix}`)
  }
  const files = new Map<string, PageFile>()
  for (const name of readdirSync(folder)) files.set(name, readPageFile(folder + name))
  for (const name of CHART_FILES) if (!files.has(name)) files.set(name, readPageFile(resolveChartFile(name)))
  return files
}

function readPageFile(path: string): PageFile {
  return { type: TYPES[extname(path)] ?? 'application/octet-stream', content: readFileSync(path) }
}

/** Returns where a file of uPlot is before the build. */
function resolveChartFile(name: string): string {
  return createRequire(import.meta.url).resolve(`uplot/dist/${name}`)
}
