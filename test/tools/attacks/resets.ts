import { NODES } from '../../e2e/package/nodes.js'
import { outcomesOn } from '../../e2e/resets/outcomes.js'
import type { Outcome } from '../../e2e/resets/run.js'
import { printedTable } from './adapters/table.js'

const COLUMNS = [
  'limit',
  'header',
  'key that finds no address',
  'block',
  'blocked in settings',
  'login',
] as const

export const RESETS_TITLE =
  '30 clients write a request and reset the connection, once the limit is used up: how many requests reached ' +
  'the handler; and the next login from another address'

/** Resets connections to the servers of all adapters. */
export async function playResets(): Promise<string> {
  const outcomes = new Map<string, Outcome>()
  for (const major of NODES)
    for (const [name, outcome] of await outcomesOn(major)) outcomes.set(name, outcome)
  return resetTable(outcomes)
}

/** The table as it is printed: a row for each adapter. */
function resetTable(outcomes: ReadonlyMap<string, Outcome>): string {
  const adapters = new Set([...outcomes.keys()].map((name) => name.slice(0, name.lastIndexOf(', '))))
  const lines = [...adapters].map((adapter) => {
    const reached = COLUMNS.map((column) => outcomes.get(`${adapter}, ${column}`)?.reached ?? '-')
    const { fromOther } = outcomes.get(`${adapter}, login`) ?? {}
    return [adapter, ...reached.map(String), fromOther === undefined ? '-' : checkOf(fromOther)]
  })
  return printedTable(RESETS_TITLE, [['adapter', ...COLUMNS, 'owner'], ...lines])
}

/** A wrong password from another address: 401 = it was checked. */
function checkOf(status: number): string {
  return status === 401 ? 'checked' : `denied (${status})`
}
