import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { withoutFences } from './pages.js'

/**
 * Returns a page of `docs/` as its sentences read: on one line, without code, pictures, tables and the targets of
 * links.
 */
export function proseOf(page: string): string {
  const text = readFileSync(join(resolve(__dirname, '../../..'), 'docs', page), 'utf8')
  return withoutFences(text)
    .replace(/<picture>[\s\S]*?<\/picture>|<!--[\s\S]*?-->|!\[[^\]]*\]\([^)]*\)/g, '')
    .replace(/^(?:\|.*\||#.*)$/gm, '')
    .replace(/^- /gm, '')
    .replace(/^> /gm, '')
    .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replace(/\s+/g, ' ')
}
