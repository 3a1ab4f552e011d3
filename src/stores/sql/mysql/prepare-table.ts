import { OtherTable } from '../other-table.js'
import { type MysqlConnection, text } from './client.js'
import { isNoTable } from './errors.js'
import { mysqlSchema, quoted } from './schema.js'

/**
 * Creates the table where there is none. Rejects where it is there without what an index has to do: without the one rows would be doubled
 * instead of changed, and without the other a purge would read all of the table.
 */
export async function prepareTable(connection: MysqlConnection, names: readonly string[]): Promise<void> {
  const table = quoted(names)
  const indexes = await indexesOf(connection, table).catch(async (error: unknown) => {
    if (!isNoTable(error)) throw error
    await text(connection, mysqlSchema(names.join('.')))
    return indexesOf(connection, table)
  })
  if (!indexes.some(({ isUnique, columns }) => isUnique && columns.join() === 'key')) {
    throw new OtherTable('its keys are not unique')
  }
  if (!indexes.some(({ columns }) => columns[0] === 'expires_at')) {
    throw new OtherTable('it has no index of expires_at')
  }
}

interface Index {
  readonly isUnique: boolean
  /** Their names; '' for one of which it has but the beginning. */
  readonly columns: string[]
}

async function indexesOf(connection: MysqlConnection, table: string): Promise<readonly Index[]> {
  const indexes = new Map<unknown, Index>()
  for (const row of await text(connection, `SHOW INDEX FROM ${table}`)) {
    const [, nonUnique, name, , column, , , length] = row
    const index = indexes.get(name) ?? { isUnique: Number(nonUnique) === 0, columns: [] }
    indexes.set(name, index)
    index.columns.push(length === null ? String(column) : '')
  }
  return [...indexes.values()]
}
