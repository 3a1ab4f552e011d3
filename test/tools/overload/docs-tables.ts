import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type PrintedTable, printedTables } from '../../e2e/docs/printed-tables.js'
import { GUARDS, OURS, REFERENCE } from './scenario.js'
import { SCENARIOS } from './scenarios.js'

const ROOT = process.cwd()
export const RESULTS = 'test/tools/results/overload-live.txt'
export const PAGE = 'docs/overload.md'

/** Each table of the page, below the comment with its name and up to an empty line. */
export const TABLES: Readonly<Record<string, (tables: readonly PrintedTable[]) => string>> = {
  'overload: goodput': goodput,
  'overload: goals': missedGoals,
}

/** Returns the page with its tables as the printed run has them. */
export function docsWith(page: string, printed: string): string {
  const tables = printedTables(printed)
  return Object.entries(TABLES).reduce((text, [name, tableOf]) => {
    const at = text.indexOf(`<!-- ${name} -->\n`)
    if (at < 0) throw new Error(`${PAGE} has no comment "${name}".`)
    const from = text.indexOf('\n', at) + 1
    return text.slice(0, from) + tableOf(tables) + text.slice(text.indexOf('\n\n', from))
  }, page)
}

export function writeDocs(): void {
  const [page, printed] = [PAGE, RESULTS].map((path) => readFileSync(join(ROOT, path), 'utf8')) as [
    string,
    string,
  ]
  writeFileSync(join(ROOT, PAGE), docsWith(page, printed))
}

/** What each guard answered in time, as a ratio to the right fixed limit. */
function goodput(tables: readonly PrintedTable[]): string {
  const guards = GUARDS.filter((guard) => guard !== REFERENCE)
  const rows = SCENARIOS.map(({ name }) => {
    const rowOf = (guard: string) => tableNamed(tables, name).rows.find((row) => row.guard === guard)
    return [name, ...guards.map((guard) => rowOf(guard)?.['of fixed']?.split(' ')[0] ?? '–')]
  })
  return markdown(['', ...guards], rows)
}

function missedGoals(tables: readonly PrintedTable[]): string {
  const { rows } = tableNamed(tables, `The goals, as ${OURS} reached them`)
  const missed = rows.filter(({ verdict }) => verdict === 'missed')
  const columns = ['scenario', 'goal', 'reached']
  if (missed.length === 0) return `All ${rows.length} goals are met.`
  return markdown(
    columns,
    missed.map((row) => columns.map((column) => row[column] ?? '')),
  )
}

function tableNamed(tables: readonly PrintedTable[], caption: string): PrintedTable {
  const found = tables.find((table) => table.caption === caption)
  if (found === undefined) throw new Error(`${RESULTS} has no table "${caption}".`)
  return found
}

function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows]
  return lines
    .map((cells) => `| ${cells.join(' | ')} |`.replaceAll(' --- |', '---|').replace('| ---', '|---'))
    .join('\n')
}
