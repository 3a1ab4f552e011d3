import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type PrintedTable, printedTables } from '../../e2e/docs/printed-tables.js'
import { GUARDS, type LiveScenario, MAIN_GUARDS, OURS, REFERENCE } from './scenario.js'
import { SCENARIOS } from './scenarios.js'

const ROOT = process.cwd()
export const RESULTS = 'test/tools/results/overload-live.txt'
export const PAGE = 'docs/overload.md'

/** Each table of the page: below the comment with its name, up to an empty line. */
const TABLES: Readonly<Record<string, (tables: readonly PrintedTable[]) => string>> = {
  'overload: goodput': goodput,
  'overload: packages': packages,
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

/** What guards answered in time in each scenario, as a ratio to the right fixed limit. */
function goodput(tables: readonly PrintedTable[]): string {
  return ratiosOf(tables, SCENARIOS, MAIN_GUARDS)
}

/** The same of the packages, in the scenarios that they played. */
function packages(tables: readonly PrintedTable[]): string {
  const played = SCENARIOS.filter(({ guards }) => guards === GUARDS)
  return ratiosOf(tables, played, [...GUARDS.filter((guard) => !MAIN_GUARDS.includes(guard)), OURS])
}

function ratiosOf(
  tables: readonly PrintedTable[],
  scenarios: readonly LiveScenario[],
  guards: readonly string[],
): string {
  const columns = guards.filter((guard) => guard !== REFERENCE)
  const rows = scenarios.map(({ name }) => {
    const { rows } = tableNamed(tables, name)
    const ratioOf = (guard: string) => rows.find((row) => row.guard === guard)?.['of fixed']?.split(' ')[0]
    return [name, ...columns.map((guard) => ratioOf(guard) ?? '–')]
  })
  return markdown(['scenario', ...columns], rows)
}

/** The goals of the scenarios that this package missed. */
function missedGoals(tables: readonly PrintedTable[]): string {
  const { rows } = tableNamed(tables, `The goals, as ${OURS} reached them`)
  const missed = rows.filter(({ verdict }) => verdict === 'missed')
  const columns = ['scenario', 'goal', 'reached']
  if (missed.length === 0) return `None of ${rows.length}.`
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
