import type { Path } from './calls.js'

/** Returns how many calls and files each path has, and with `isFull` each of its functions. */
export function pathTable(paths: Readonly<Record<string, Path>>, isFull: boolean): string {
  const rows = Object.entries(paths).map(([store, path]) => {
    const files = new Set(path.map(({ file }) => file))
    return `${store.padEnd(12)}${String(callCount(path)).padStart(6)} calls${String(files.size).padStart(6)} files`
  })
  if (!isFull) return rows.join('\n')
  const details = Object.entries(paths).map(([store, path]) => `\n${store}\n${functionsIn(path)}`)
  return [...rows, ...details].join('\n')
}

function functionsIn(path: Path): string {
  const sorted = path.toSorted((a, b) => a.file.localeCompare(b.file))
  return sorted.map(({ file, name, count }) => `  ${String(count).padStart(3)} ${file} ${name}`).join('\n')
}

/** Returns how many calls a path has. */
export function callCount(path: Path): number {
  return path.reduce((sum, { count }) => sum + count, 0)
}
