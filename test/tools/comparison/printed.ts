import { cpus } from 'node:os'

/** Where the table is kept, from the root of the repository. */
export const RESULTS = 'test/bench/results/comparison.txt'
export const PAGE = 'docs/comparison.md'

/** The packages, and the cells of each row by the question at its left. */
export interface Table {
  readonly heads: readonly string[]
  readonly rows: Readonly<Record<string, readonly string[]>>
}

/** The table in Markdown. */
export function print({ heads, rows }: Table): string {
  const line = (first: string, cells: readonly string[]) => `| ${[first, ...cells].join(' | ')} |\n`
  const body = Object.entries(rows).map(([question, cells]) => line(question, cells))
  return `| |${heads.map((head) => ` ${head} |`).join('')}\n|${'---|'.repeat(heads.length + 1)}\n${body.join('')}`
}

/** The table as a file of results, below where and when it was made. */
export function asResults(table: string): string {
  const made = [
    'Command: npm run comparison -- --write',
    `Date: ${new Date().toISOString().slice(0, 10)}`,
    'Version: before the first release',
    `Machine: Node.js ${process.versions.node.split('.', 2).join('.')}, ${cpus().length} cores`,
  ]
  return `${made.join('\n')}\n\n${table}`
}

/** Reads what `print` or `asResults` returned. */
export function read(text: string): Table {
  const [[, ...heads] = [], , ...lines] = text
    .slice(text.indexOf('| |'))
    .trim()
    .split('\n')
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    )
  return { heads, rows: Object.fromEntries(lines.map(([question = '', ...cells]) => [question, cells])) }
}

const PLACE = /(?<=<!-- comparison -->\n)(?:\|.*\n)+/

/** The table on the page, below its comment. */
export function tableOn(page: string): string {
  const [table] = PLACE.exec(page) ?? []
  if (table === undefined) throw new Error(`${PAGE} has no place for the table.`)
  return table
}

/** The page with another table. */
export function withTable(page: string, table: string): string {
  return page.replace(tableOn(page), () => table)
}
