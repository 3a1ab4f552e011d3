import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { withoutFences } from './pages.js'

/** A page of `docs/` as its sentences read: on one line, with the words of links alone. */
export function proseOf(page: string): string {
  return wordsOf(readFileSync(join(resolve(__dirname, '../../..'), 'docs', page), 'utf8'))
}

/** Returns the figures of a page that no claim covers. Tables of options, code and links are left out. */
export function uncheckedFigures(prose: string, claims: readonly string[]): string[] {
  const rest = claims.reduce((text, claim) => text.replaceAll(claim, ' … '), prose)
  return rest.replace(/`[^`]*`/g, '').match(/\b\d[\w.,]*(?<![.,])(?: [µm]s\b| %)?/g) ?? []
}

/** Returns a page without its code, pictures, tables and the targets of its links. */
function wordsOf(text: string): string {
  return withoutFences(text)
    .replace(/<picture>[\s\S]*?<\/picture>|<!--[\s\S]*?-->|!\[[^\]]*\]\([^)]*\)/g, '')
    .replace(/^(?:\|.*\||#.*)$/gm, '')
    .replace(/^- /gm, '')
    .replace(/^> /gm, '')
    .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replace(/\s+/g, ' ')
}
