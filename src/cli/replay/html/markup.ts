/** A part of a page. Only `html` makes one, and escapes every other value in it. */
export interface Markup {
  readonly markup: string
}

type Content = Markup | string | number | readonly Markup[]

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Makes a part of a page of a template: parts stay as they are, all other values are text. */
export function html(texts: TemplateStringsArray, ...values: readonly Content[]): Markup {
  const parts = texts.map((text, i) => {
    const value = values[i]
    return value === undefined ? text : text + markupOf(value)
  })
  return { markup: parts.join('') }
}

function markupOf(value: Content): string {
  if (typeof value === 'object')
    return [value]
      .flat()
      .map(({ markup }) => markup)
      .join('')
  return String(value).replace(/[&<>"']/g, (char) => ESCAPES[char] ?? char)
}
