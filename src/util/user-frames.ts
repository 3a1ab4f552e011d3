/** What bundlers and hot reload append to the URL of a module. */
const QUERY = /\?[^):]*/

/**
 * Returns the lines of a stack that are outside of this package and of Node.js, the innermost first. `here` is
 * the stack of an error that was created in this package.
 */
export function userFrames(here = ''): readonly string[] {
  const [own = '', ...lines] = here.split('\n').slice(1)
  const folder = /^(.*[\\/](?:src|dist)[\\/])/.exec(own.replace(/^.*?\(?(?=\/|file:|[A-Z]:\\)/, ''))?.[1]
  const outside = lines.filter((each) => folder === undefined || !each.includes(folder))
  return outside.filter((each) => !each.includes('node:')).map((each) => each.trim().replace(QUERY, ''))
}

/** Returns the line of the user's code in such a stack: its innermost one. */
export function userLine(here?: string): string {
  return userFrames(here)[0] ?? 'at an unknown place'
}
