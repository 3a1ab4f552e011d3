import { OtherTable } from '../sql/other-table.js'
import { type PostgresConnection, repliesOf } from './postgres-client.js'
import { postgresSchema, quoted } from './postgres-schema.js'

/**
 * Creates the table where there is none. Rejects where it is there without its index, as after the table was renamed: the index keeps
 * its name, so that no other is made.
 */
export async function prepareTable(connection: PostgresConnection, names: readonly string[]): Promise<void> {
  const name = names.join('.')
  const alone = `SELECT pg_advisory_xact_lock(hashtext('headgate prepare ${name}'))` // IF NOT EXISTS races
  await repliesOf(connection, ['BEGIN', alone])
  if (!(await hasIndex(connection, names))) {
    await repliesOf(connection, [postgresSchema(name)])
    if (!(await hasIndex(connection, names))) throw new OtherTable('it has no index of expires_at')
  }
  await repliesOf(connection, ['COMMIT'])
}

/** Whether the table is there, and an index for the purge. Whoever does not own the table could not ask for it by IF NOT EXISTS. */
async function hasIndex(connection: PostgresConnection, names: readonly string[]): Promise<boolean> {
  const column = `a.attrelid = i.indrelid AND a.attnum = i.indkey[0] AND a.attname = 'expires_at'`
  const [found] = await repliesOf(connection, [
    `SELECT 1 FROM pg_index i JOIN pg_attribute a ON ${column} WHERE i.indrelid = to_regclass('${quoted(names)}')`,
  ])
  return (found?.rows.length ?? 0) > 0
}
