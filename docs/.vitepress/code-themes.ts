import { readFileSync } from 'node:fs'

const TOKEN = /--([\w-]+): light-dark\((#\w+), (#\w+)\)/g

/** Which color of the tokens each kind of word in code has, as on the pages of the demo. */
const COLORS: Readonly<Record<string, readonly string[]>> = {
  muted: ['comment', 'punctuation.definition.comment'],
  violet: ['keyword', 'storage', 'constant.language', 'variable.language', 'entity.name.tag'],
  green: ['string', 'punctuation.definition.string', 'entity.other.attribute-name'],
  brand: ['entity.name.function', 'support.function', 'constant.numeric'],
}

/** Returns a light and a dark theme for code, in the colors of a file of tokens. */
export function codeThemes(tokensPath: string) {
  const tokens = [...readFileSync(tokensPath, 'utf8').matchAll(TOKEN)]
  const themeOf = (type: 'light' | 'dark') => {
    const colors = new Map(tokens.map(([, name, light, dark]) => [name, type === 'light' ? light : dark]))
    const foreground = (name: string) => ({ foreground: colors.get(name) ?? '' })
    return {
      name: `headgate-${type}`,
      type,
      colors: { 'editor.foreground': foreground('ink').foreground },
      settings: [
        { settings: foreground('ink') },
        ...Object.entries(COLORS).map(([name, scope]) => ({ scope: [...scope], settings: foreground(name) })),
        { scope: ['keyword.operator', 'string.unquoted'], settings: foreground('ink') },
      ],
    }
  }
  return { light: themeOf('light'), dark: themeOf('dark') }
}
