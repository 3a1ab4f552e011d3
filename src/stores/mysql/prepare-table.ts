import { OtherTable } from '../sql/other-table.js'
import { type MysqlConnection, text } from './mysql-client.js'
import { mysqlSchema, quoted } from './mysql-schema.js'

/**
 * Creates the table where there is none. Rejects where it is there without what an index has to do: without the one rows would be doubled
 * instead of changed, and without the other a purge would read all of the table.
 */
export async function prepareTable(connection: MysqlConnection, names: readonly string[]): Promise<void> {
  await text(connection, mysqlSchema(names.join('.')))
  const indexes = await text(connection, `SHOW INDEX FROM ${quoted(names)} WHERE Seq_in_index = 1`)
  const isThere = (column: string, isUnique: boolean) => {
    return indexes.some(
      ([, nonUnique, , , name]) => name === column && (!isUnique || Number(nonUnique) === 0),
    )
  }
  if (!isThere('key', true)) throw new OtherTable('its keys are not unique')
  if (!isThere('expires_at', false)) throw new OtherTable('it has no index of expires_at')
}
