/**
 * How tables of options are tested.
 *
 * A comment above a table says what the cells of each column are: `<!-- rows: express-rate-limit, rateLimit,
 * text -->`. A cell of `text` is prose. Any other is one code span, or `–` where there is
 * nothing to write. Each code span becomes a module of its own, as its kind (`row-kinds.ts`) completes it,
 * and is tested as a block of code is.
 */
import type { Block, Page } from './pages.js'
import { codeOfCell, isKind } from './row-kinds.js'

const NOTHING = '–'

/** A row of a table, below its heading. */
interface Row {
  readonly page: string
  /** The line of the page, counted from 1. */
  readonly line: number
  readonly kinds: readonly string[]
  readonly cells: readonly string[]
}

/** A block for each code span in the tables of a page that a comment describes. Throws for other cells. */
export function cellsOf(page: Page): Block[] {
  return rowsOf(page).flatMap((row) =>
    row.cells.flatMap((cell, column) => {
      const kind = row.kinds[column] as string
      const code = kind === 'text' ? undefined : spanIn(cell, row)
      return code === undefined ? [] : [blockOf(row, column, codeOfCell(kind, code))]
    }),
  )
}

/** The rows of the tables that a comment describes. Throws where a row has not as many cells as kinds. */
export function rowsOf({ path, text }: Page): Row[] {
  const lines = text.split('\n')
  return lines.flatMap((line, at) => {
    const named = /^<!--\s*rows:\s*(.+?)\s*-->$/.exec(line.trim())?.[1]
    return named === undefined ? [] : tableBelow(path, lines, at, named.split(/,\s*/))
  })
}

/** The code of a cell; `undefined` where there is none. */
function spanIn(cell: string, { page, line }: Pick<Row, 'page' | 'line'>): string | undefined {
  if (cell === NOTHING) return undefined
  const [, code] = /^`([^`]+)`$/.exec(cell) ?? []
  if (code === undefined) throw new Error(`${page}:${line}: neither a code span nor ${NOTHING}: ${cell}`)
  return code
}

function tableBelow(page: string, lines: readonly string[], at: number, kinds: readonly string[]): Row[] {
  const unknown = kinds.filter((kind) => kind !== 'text' && !isKind(kind))
  if (unknown.length > 0) throw new Error(`${page}:${at + 1}: there is no kind ${unknown.join(', ')}`)
  const head = lines.findIndex((line, i) => i > at && line.trim() !== '')
  const rows: Row[] = []
  for (let i = head + 2; lines[i]?.startsWith('|'); i += 1) {
    const cells = cellsIn(lines[i] as string)
    if (cells.length !== kinds.length) throw new Error(`${page}:${i + 1}: not ${kinds.length} cells`)
    rows.push({ page, line: i + 1, kinds, cells })
  }
  if (rows.length === 0) throw new Error(`${page}:${at + 1}: no table follows`)
  return rows
}

/** Splits a row at its bars; `\|` is a bar within a cell. */
function cellsIn(line: string): string[] {
  const [, ...cells] = line.trimEnd().split(/(?<!\\)\|/)
  return cells.slice(0, -1).map((cell) => cell.trim().replaceAll('\\|', '|'))
}

function blockOf({ page, line }: Row, column: number, code: string): Block {
  return { page, line, column: column + 1, language: 'ts', code, fixtures: ['app'], continues: false }
}
