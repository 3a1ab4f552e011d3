import { OtherTable } from '../other-table.js'
import { type PostgresConnection, repliesOf } from './client.js'
import { postgresSchema, quoted } from './schema.js'

/**
 * Creates the table where there is none. Rejects where it is there without its index, as after the table was renamed: the index keeps
 * its name, so that no other is made.
 */
export async function prepareTable(connection: PostgresConnection, names: readonly string[]): Promise<void> {
  const name = names.join('.')
  const alone = `SELECT pg_advisory_xact_lock(hashtext('headgate prepare ${name}'))` // IF NOT EXISTS races
  await repliesOf(connection, ['BEGIN', alone])
  if (!(await hasIndexes(connection, names))) {
    await repliesOf(connection, [postgresSchema(name)])
    if (!(await hasIndexes(connection, names))) {
      throw new OtherTable('its keys are not unique, or it has no index of expires_at')
    }
  }
  await repliesOf(connection, ['COMMIT'])
}

/** Whether the table is there with what it needs. Whoever does not own it could not ask for the index by IF NOT EXISTS. */
async function hasIndexes(connection: PostgresConnection, names: readonly string[]): Promise<boolean> {
  const [found] = await repliesOf(connection, [
    `SELECT a.attname, i.indisunique AND i.indnkeyatts = 1 FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] WHERE i.indrelid = to_regclass('${quoted(names)}') AND i.indisvalid AND i.indpred IS NULL`,
  ])
  const rows = found?.rows ?? []
  const isUnique = rows.some(([column, isAlone]) => column === 'key' && isAlone === 't')
  return isUnique && rows.some(([column]) => column === 'expires_at')
}
