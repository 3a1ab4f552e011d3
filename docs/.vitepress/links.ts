import { posix } from 'node:path'
import type { MarkdownRenderer } from 'vitepress'

/** The main branch on GitHub. */
export const SOURCE = 'https://github.com/headgate/headgate/blob/main'

/** Points relative links that leave `docs/`, such as `../SECURITY.md`, to the repository on GitHub. */
export function linkToRepository(md: MarkdownRenderer): void {
  md.core.ruler.push('link_to_repository', ({ tokens, env }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === 'link_open' ? token.attrGet('href') : null
      if (href !== null) token.attrSet('href', outsideDocs(href, env.relativePath) ?? href)
    }
  })
}

/** Returns the address on GitHub of a link that leaves `docs/`; `undefined` for other links. */
function outsideDocs(href: string, page: string): string | undefined {
  if (!href.startsWith('.')) return undefined
  const path = posix.join('docs', posix.dirname(page), href)
  return path.startsWith('docs/') ? undefined : `${SOURCE}/${path}`
}
