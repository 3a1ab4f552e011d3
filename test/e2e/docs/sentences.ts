import { type Page, withoutFences } from './pages.js'

/** A sentence of a page's prose: its text, code spans replaced, and the number of its words. */
export interface Sentence {
  readonly text: string
  readonly words: number
}

/** What is not prose, besides fenced blocks: front matter, comments, rows, headings, and lines of HTML. */
const NOT_PROSE = [
  /^---\n[\s\S]*?\n---\n/,
  /<!--[\s\S]*?-->/g,
  /^\|.*\|$/gm,
  /^#+ .*$/gm,
  /^\[!\[.*$/gm,
  /^[ \t]*<.*$/gm,
]

/** Returns the sentences of a page. Each item of a list, and each part of a line of links, is at least one. */
export function sentencesOf({ text }: Pick<Page, 'text'>): Sentence[] {
  const prose = NOT_PROSE.reduce((rest, pattern) => rest.replace(pattern, '\n\n'), withoutFences(text))
  const paragraphs = prose.replace(/^> ?/gm, '').split(/\n\s*\n|\n\s*(?:[-*]|\d+\.)\s+| · |\[!\w+\]/)
  return paragraphs.flatMap((paragraph) => {
    const plain = paragraph
      .replace(/`[^`]*`/g, 'code')
      .replace(/\]\([^)]*\)/g, ']')
      .replace(/\s+/g, ' ')
      .trim()
    const sentences = plain.split(
      /(?<=[.!?:][)"*\]]*) (?=[A-Z[*(]|(?:code|headgate|ioredis|memjs|express)\b)/,
    )
    return sentences.map((each) => ({
      text: each,
      words: each.split(' ').filter((w) => /\w/.test(w)).length,
    }))
  })
}
