import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A page of Markdown: its path below the folder that holds it, and its text. */
export interface Page {
  readonly path: string
  readonly text: string
}

/** A fenced block of a page. */
export interface Block {
  readonly page: string
  /** The line of the page on which the code begins, counted from 1. */
  readonly line: number
  /** The column of a table that holds the code, counted from 1. */
  readonly column?: number
  readonly language: string
  readonly code: string
  /** The names in `<!-- with: … -->` above the block. */
  readonly fixtures: readonly string[]
  /** Whether `<!-- continues -->` stands above the block. */
  readonly continues: boolean
  /** The name in `<!-- file: … -->` above the block. */
  readonly file?: string
}

/** Folders of docs/ that tools write. */
const GENERATED = /^(?:node_modules|api|\.vitepress)\//

/** README.md and docs/**.md of a folder, those that are there and not generated. */
export function pagesOf(root: string): Page[] {
  const docs = existsSync(join(root, 'docs'))
    ? readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    : []
  const paths = [
    'README.md',
    ...docs
      .filter((name) => name.endsWith('.md') && !GENERATED.test(name))
      .sort()
      .map((name) => `docs/${name}`),
  ]
  const there = paths.filter((path) => existsSync(join(root, path)))
  return there.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

/** All fenced blocks of a page, in order. Throws for a fence that is never closed. */
export function blocksOf({ path, text }: Page): Block[] {
  const lines = text.split('\n')
  const blocks: Block[] = []
  for (let i = 0; i < lines.length; i += 1) {
    const opening = /^(\s*)(`{3,}|~{3,})\s*([^\s`]*)/.exec(lines[i] ?? '')
    if (opening === null) continue
    const [, indent = '', fence = '', language = ''] = opening
    const end = lines.findIndex((line, at) => at > i && line.trim() === fence)
    if (end < 0) throw new Error(`${path}:${i + 1}: this fence is never closed`)
    const code = lines.slice(i + 1, end).map((line) => line.slice(indent.length))
    blocks.push({ page: path, line: i + 2, language, code: code.join('\n'), ...notesAbove(lines, i) })
    i = end
  }
  return blocks
}

/** What the HTML comments right above a fence say; blank lines may stand between. */
function notesAbove(
  lines: readonly string[],
  fenceAt: number,
): Pick<Block, 'fixtures' | 'continues' | 'file'> {
  const fixtures: string[] = []
  let continues = false
  let file: string | undefined
  for (let i = fenceAt - 1; i >= 0; i -= 1) {
    const line = (lines[i] ?? '').trim()
    if (line === '') continue
    const note = /^<!--\s*(?:(continues)|with:\s*([\w$, ]+?)|file:\s*([\w.-]+))\s*-->$/.exec(line)
    if (note === null) break
    continues ||= note[1] !== undefined
    fixtures.push(...(note[2]?.split(',').map((name) => name.trim()) ?? []))
    file ??= note[3]
  }
  return file === undefined ? { fixtures, continues } : { fixtures, continues, file }
}

/** The scripts of package.json that a block of shell commands runs. */
export function scriptsIn(code: string): string[] {
  const pattern = /\bnpm (?:run ([\w:.-]+)|(start|test)\b)/g
  return [...code.matchAll(pattern)].map((match) => match[1] ?? match[2] ?? '')
}

/**
 * The links of a page that lead to no file, or to no heading of a Markdown file. Those with a scheme are not
 * followed.
 */
export function brokenLinks(root: string, page: Page): string[] {
  const prose = withoutCode(page.text)
  const patterns = [/\]\(\s*<?([^)\s>]+)/g, /^\s*\[[^\]]+\]:\s+(\S+)/gm, /\b(?:href|src|srcset)="([^"]+)"/g]
  const links = patterns.flatMap((pattern) => [...prose.matchAll(pattern)].map((match) => match[1] as string))
  return links.filter(
    (link) => !/^([a-z][a-z0-9+.-]*:|\/\/)/i.test(link) && !leadsSomewhere(root, page, link),
  )
}

function leadsSomewhere(root: string, page: Page, link: string): boolean {
  const [path = '', anchor] = decodeURI(link).split('#')
  const target = path === '' ? join(root, page.path) : join(root, dirname(page.path), path)
  if (!existsSync(target)) return false
  if (anchor === undefined || !target.endsWith('.md')) return true
  return anchorsOf(readFileSync(target, 'utf8')).includes(anchor)
}

/** The anchors that GitHub gives to headings; a heading that comes again gets a number. */
export function anchorsOf(text: string): string[] {
  const slugs = [...withoutFences(text).matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)].map((match) =>
    slug(match[1] ?? ''),
  )
  return slugs.map((each, i) => {
    const before = slugs.slice(0, i).filter((other) => other === each).length
    return before === 0 ? each : `${each}-${before}`
  })
}

function slug(heading: string): string {
  const words = heading.replace(/\]\([^)]*\)/g, '').toLowerCase()
  return words.replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-')
}

/** Returns a page without its fenced blocks. */
export function withoutFences(text: string): string {
  return text.replace(/^\s*(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\s*\1\s*$/gm, '')
}

function withoutCode(text: string): string {
  return withoutFences(text).replace(/`[^`\n]*`/g, '')
}
