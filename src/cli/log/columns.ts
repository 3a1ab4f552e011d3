import { type LineField, textOfField } from './line-fields.js'

/** The fewest separators that cut a line into columns: a path may have one. */
const MIN_SEPARATORS = 2
const ENCLOSED = /^(?:"[^"]*"|\[[^\]]*\]|\([^)]*\))$/

/** A column of a line. */
export interface Column {
  readonly text: string
  readonly opener: LineField['opener']
}

/** A line that tabs or bars cut into columns. */
export interface Columns {
  /** What stands between them, as a format has it. */
  readonly separator: string
  readonly columns: readonly Column[]
}

/** Returns the columns of a line; `undefined` if neither tabs nor bars cut it. */
export function columnsOf(line: string, most: number): Columns | undefined {
  const mark = ['\t', '|'].find((each) => line.split(each, MIN_SEPARATORS + 1).length > MIN_SEPARATORS)
  if (mark === undefined) return undefined
  const cut = line.split(mark, most)
  return { separator: separatorOf(line, mark), columns: cut.map(columnOf) }
}

/** Spaces around all marks are part of the separator. If only some have them, they pad the columns. */
function separatorOf(line: string, mark: string): string {
  if (mark === '\t') return '\\t'
  return line.replaceAll(' | ', '').includes('|') || / {2}\||\| {2}/.test(line) ? '|' : ' | '
}

function columnOf(cut: string): Column {
  const whole = cut.trim()
  if (!ENCLOSED.test(whole)) return { text: whole, opener: '' }
  const field = { start: 0, end: whole.length, opener: whole.charAt(0) as LineField['opener'] }
  return { text: textOfField(whole, field), opener: field.opener }
}
