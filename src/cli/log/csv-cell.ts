/**
 * Returns where a cell in quotes that begins at `start` ends, before the mark that follows it or the end of the line;
 * -1 if there is none. A quote in it is doubled.
 */
export function cellEnd(line: string, start: number, mark: string): number {
  if (line.charAt(start) !== '"') return -1
  for (let at = line.indexOf('"', start + 1); at >= 0; at = line.indexOf('"', at + 2)) {
    if (line.charAt(at + 1) === '"') continue
    const end = at + 1
    return end === line.length || line.startsWith(mark, end) ? end : -1
  }
  return -1
}

/** Returns the text of a cell, without the quotes around it. */
export function cellText(cell: string): string {
  return /^".*"$/s.test(cell) ? cell.slice(1, -1).replaceAll('""', '"') : cell
}

/** Returns the comma or semicolon that separates cells, if that is all that a text is. */
export function cellMark(text: string | undefined): string | undefined {
  return /^ ?([,;]) ?$/.exec(text ?? '')?.[1]
}
