const MAX_LENGTH = 200
/** Where a page of the API reference is. */
const BREADCRUMB = /^\[API reference\]/

/** Returns the first paragraph of a page as plain text, at most 200 characters; `undefined` if it has none. */
export function descriptionOf(markdown: string): string | undefined {
  const prose = markdown
    .replace(/^---\n.*?\n---\n/s, '')
    .replaceAll(/^(```+|~~~+).*?^\1\s*$/gms, '')
    .replaceAll(/<!--.*?-->/gs, '')
  const blocks = prose.split(/\n\s*\n/).map((block) => block.trim())
  const paragraph = blocks.find((block) => /^(?:[\p{L}`[]|\*\*)/u.test(block) && !BREADCRUMB.test(block))
  return paragraph === undefined ? undefined : shorten(plainText(paragraph))
}

function plainText(paragraph: string): string {
  return paragraph
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/`|\*\*/g, '')
    .replaceAll(/\s+/g, ' ')
    .replace(/(?<=[.!?]) [^.!?]*:$/, '') // what it introduces is not here
    .replace(/:$/, '.')
}

/** Returns as many sentences as there is room for; of a first one that is too long, as many words. */
function shorten(text: string): string {
  const [first = '', ...others] = text.split(/(?<=[.!?]) (?=[\p{Lu}'])/u)
  if (first.length > MAX_LENGTH) return `${first.slice(0, MAX_LENGTH - 1).replace(/\s+\S*$/, '')}…`
  let short = first
  for (const sentence of others) {
    if (short.length + 1 + sentence.length > MAX_LENGTH) break
    short += ` ${sentence}`
  }
  return short
}
