/** What bundlers and hot reload append to the URL of a module. */
const QUERY = /\?[^):]*/
/** In a line of a stack, the folder of its package's sources or build. */
const FOLDER = /(?:file:|\/|[A-Z]:\\).*[\\/](?:src|dist)[\\/]/

/**
 * Returns the line of the user's code in a stack that begins in this package: the innermost line outside of
 * it and of Node.js. In a bundle, where this package cannot be told from the application, returns the
 * outermost.
 */
export function userLine(stack = ''): string {
  const lines = stack
    .split('\n')
    .slice(1)
    .filter((each) => !each.includes('node:'))
    .map((each) => each.trim().replace(QUERY, ''))
  const [folder] = FOLDER.exec(lines[0] ?? '') ?? []
  const line = folder && lines.find((each) => !each.includes(folder))
  return line ?? lines.at(-1) ?? 'at an unknown place'
}
