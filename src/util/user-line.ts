/** What bundlers and hot reload append to the URL of a module. */
const QUERY = /\?[^):]*/
/** The folder of the sources or the build of the package whose line of a stack this is. */
const FOLDER = /(?:file:|\/|[A-Z]:\\).*[\\/](?:src|dist)[\\/]/

/**
 * Returns the innermost line of a stack outside of this package and of Node.js: the user's. The stack begins in
 * this package. In a bundle, the package cannot be told from the application: then returns the outermost line.
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
