import { extname } from 'node:path'
import { readPageSource } from './page-source.js'

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

/** Returns the files of the page, by name. */
export function readPageFiles(): ReadonlyMap<string, PageFile> {
  const sources = Object.entries(readPageSource())
  return new Map(
    sources.map(([name, [encoding, text]]) => {
      const type = TYPES[extname(name)] ?? 'application/octet-stream'
      return [name, { type, content: Buffer.from(text, encoding) }]
    }),
  )
}
