import type { MarkdownRenderer } from 'vitepress'

/** The anchor of an option's row. */
const anchorOf = (option: string) => `option-${option.toLowerCase()}`

/** A row of rendered HTML that `anchorOptionRows` has given an anchor. */
const ROW = /<tr id="(option-[^"]+)">([\s\S]*?)<\/tr>/g

/** Gives each row an anchor in tables whose first column is called "option": `options#option-skip`. */
export function anchorOptionRows(md: MarkdownRenderer): void {
  md.core.ruler.push('anchor_option_rows', ({ tokens }) => {
    let isOfOptions = false
    for (const [i, token] of tokens.entries()) {
      const cell = tokens[i + 2]?.content ?? '' // behind tr_open and th_open or td_open
      if (token.type !== 'tr_open') continue
      if (tokens[i + 1]?.type === 'th_open') isOfOptions = cell === 'option'
      else if (isOfOptions) {
        const [, option] = /^`(\w+)`$/.exec(cell) ?? []
        if (option !== undefined) token.attrSet('id', anchorOf(option))
      }
    }
  })
}

/**
 * Repeats each row of options below the page as a section with a heading, for the search index alone, so that
 * the search can lead to a row. `wordsFor` adds words that people search an option by.
 */
export function rowsAsSections(html: string, wordsFor: (option: string) => string): string {
  const sections = [...html.matchAll(ROW)].map(([, anchor = '', cells = '']) => {
    const option = /<code>(\w+)<\/code>/.exec(cells)?.[1] ?? ''
    const heading = `<h3 id="${anchor}">${option} <a class="header-anchor" href="#${anchor}"></a></h3>`
    return `${heading}<p>${wordsFor(option)} ${cells}</p>`
  })
  return html + sections.join('')
}
