/** What bundlers and hot reload append to the URL of a module. */
const QUERY = /\?[^):]*/

/**
 * Returns the lines of a stack that are outside of this package and of Node.js, the innermost first. `here` is
 * the stack of an error that was created in `module`, such as `'limiter/shared-name'`. In a bundle, this package
 * cannot be told from the application: then it returns all lines of the bundle, the outermost first.
 */
export function userFrames(module: string, here = ''): readonly string[] {
  const lines = here.split('\n').slice(1)
  const folder = packageFolder(module, lines[0])
  const shown = lines.filter((each) => !each.includes('node:') && !(folder && each.includes(folder)))
  const frames = shown.map((each) => each.trim().replace(QUERY, ''))
  return folder === undefined ? frames.reverse() : frames
}

/** Returns the folder of this package by the path of one of its modules; `undefined` in a bundle. */
function packageFolder(module: string, own = ''): string | undefined {
  const path = own.replace(/^.*?\(?(?=\/|file:|[A-Z]:\\)/, '').replaceAll('\\', '/')
  const at = path.search(new RegExp(`(?<=/(?:src|dist)/)${module}\\.[cm]?[jt]s\\b`))
  return at < 0 ? undefined : own.slice(own.length - path.length).slice(0, at)
}

/** Returns the line of the user's code in such a stack: its innermost one. */
export function userLine(module: string, here?: string): string {
  return userFrames(module, here)[0] ?? 'at an unknown place'
}
