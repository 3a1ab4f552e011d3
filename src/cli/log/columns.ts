import { cellEnd, cellText } from './csv-cell.js'
import { type LineField, textOfField } from './line-fields.js'

/** The fewest separators that cut a line into columns: a path may have one. */
const MIN_SEPARATORS = 2
const ENCLOSED = /^(?:"[^"]*"|\[[^\]]*\]|\([^)]*\))$/

/** A column of a line. */
export interface Column {
  readonly text: string
  readonly opener: LineField['opener']
}

/** A line that a mark cuts into columns: a tab, a bar, a comma or a semicolon. */
export interface Columns {
  /** What stands between them, as a format has it. */
  readonly separator: string
  readonly columns: readonly Column[]
  /** Whether a program for tables wrote it, as its commas or semicolons show. */
  readonly isCsv: boolean
}

/** Returns how marks cut a line into columns: by tabs or bars first, which are rare in other lines. */
export function columnsOf(line: string, most: number): readonly Columns[] {
  const cuts = ['\t', '|'].map((mark) => ({ mark, isCsv: false, cut: line.split(mark) }))
  const cells = [',', ';'].map((mark) => ({ mark, isCsv: true, cut: cellsOf(line, mark) }))
  return [...cuts, ...cells]
    .filter(({ cut }) => cut.length > MIN_SEPARATORS)
    .map(({ mark, isCsv, cut }) => ({
      separator: separatorOf(line, mark, isCsv ? cut : undefined),
      columns: cut.slice(0, most).map(isCsv ? cellColumn : columnOf),
      isCsv,
    }))
}

/** Splits a line at a mark, but not in cells in quotes. */
function cellsOf(line: string, mark: string): string[] {
  const cells: string[] = []
  for (let start = 0; start <= line.length; ) {
    const blanks = /^ */.exec(line.slice(start, start + 8))?.[0].length ?? 0
    const quoted = cellEnd(line, start + blanks, mark)
    const end = quoted < 0 ? line.indexOf(mark, start) : line.indexOf(mark, quoted)
    cells.push(line.slice(start, end < 0 ? line.length : end))
    if (end < 0) break
    start = end + 1
  }
  return cells
}

/** Spaces around all marks are part of the separator. If only some have them, they pad the columns. */
function separatorOf(line: string, mark: string, cells: readonly string[] | undefined): string {
  if (cells !== undefined) return cells.slice(1).every((cell) => cell.startsWith(' ')) ? `${mark} ` : mark
  if (mark === '\t') return '\\t'
  return line.replaceAll(' | ', '').includes('|') || / {2}\||\| {2}/.test(line) ? '|' : ' | '
}

function columnOf(cut: string): Column {
  const whole = cut.trim()
  if (!ENCLOSED.test(whole)) return { text: whole, opener: '' }
  const field = { start: 0, end: whole.length, opener: whole.charAt(0) as LineField['opener'] }
  return { text: textOfField(whole, field), opener: field.opener }
}

/** Quotes are no part of the format of a cell: some of its values have them, and others do not. */
function cellColumn(cut: string): Column {
  const whole = cut.trim()
  return whole.startsWith('"') ? { text: cellText(whole), opener: '' } : columnOf(whole)
}
