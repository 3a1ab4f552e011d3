import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = process.cwd() // as npm and Jest have it

/** The tables that benchmarks print: a caption, a head, a line of dashes below each column, and rows. */
export interface PrintedTable {
  readonly caption: string
  /** The cells of each row by the head of their column; a head that stands twice counts first. */
  readonly rows: readonly Readonly<Record<string, string>>[]
}

/** Reads the file of a printed run, such as `test/bench/results/redis.txt`. */
export function printedRun(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

/** Returns the tables of a printed run. */
export function printedTables(text: string): PrintedTable[] {
  const lines = text.split('\n')
  return lines.flatMap((line, at) => {
    if (!/^ {2}-+(?: {2,}-+)+$/.test(line)) return []
    const spans = Array.from(line.matchAll(/-+/g), ({ index, 0: dashes }) => [index, index + dashes.length])
    const cellsOf = (row: string) => spans.map(([from, to]) => row.slice(from, to).trim())
    const heads = cellsOf(lines[at - 1] ?? '')
    const rows: Record<string, string>[] = []
    for (let i = at + 1; /^ {2}\S/.test(lines[i] ?? ''); i += 1) {
      const cells = cellsOf(lines[i] as string)
      rows.push(Object.fromEntries(heads.map((head, column) => [head, cells[column] as string]).reverse()))
    }
    return [{ caption: captionAbove(lines, at - 1), rows }]
  })
}

/** Returns the line above the head of a table, over the blank line between them. */
function captionAbove(lines: readonly string[], head: number): string {
  return (lines[head - 2] ?? '').trim()
}

/** Finds the figure of the row that has these cells, in the tables whose caption begins so. */
export function figureIn(
  tables: readonly PrintedTable[],
  caption: string,
  cells: Readonly<Record<string, string>>,
  column: string,
  nth = 0,
): number {
  const row = tables
    .filter((each) => each.caption.startsWith(caption))
    .flatMap(({ rows }) => rows)
    .find((each) => Object.entries(cells).every(([head, cell]) => each[head] === cell))
  const figures = row?.[column]?.match(/-?[\d,]+(?:\.\d+)?/g)
  const figure = figures?.[nth]?.replaceAll(',', '')
  if (figure === undefined) throw new Error(`no figure in ${caption}, ${JSON.stringify(cells)}, ${column}`)
  return Number(figure)
}
