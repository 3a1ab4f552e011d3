import type { StoredDocument } from '../../documents.js'
import { type DocumentStatements, documentsTable } from '../documents.js'
import { codeOf, MYSQL_DUPLICATE } from '../errors.js'
import { type MysqlConnection, type MysqlReply, run } from './client.js'
import { quoteName } from './schema.js'
import { beginWith, COMMIT, hex, LOCK_WAIT } from './statements.js'

/** Creates the statements for documents. Texts are stored as bytes, so no collation applies to them. */
export function mysqlDocuments(names: readonly string[]): DocumentStatements<MysqlConnection> {
  const table = quoteName(documentsTable(names))

  /** Runs a statement in its own transaction. Otherwise, with `autocommit` off, it would leave one open. */
  async function runAlone(connection: MysqlConnection, sql: string): Promise<MysqlReply> {
    const reply = await beginWith(connection, sql)
    await run(connection, COMMIT)
    return reply
  }

  return {
    table,
    async select(connection, keys, knownVersions) {
      const text = `CASE WHEN version IN (${['', ...knownVersions].map(hex)}) THEN NULL ELSE text END`
      const all = `LIMIT ${keys.length}` // overrides sql_select_limit
      const sql = `SELECT \`key\`, version, ${text} FROM ${table} WHERE \`key\` IN (${keys.map(hex)}) ${all}`
      const rows = await runAlone(connection, sql)
      return new Map(
        rows.map(([key, version, found]): [string, StoredDocument] => [
          String(key),
          { version: String(version), ...(found !== null && { text: String(found) }) },
        ]),
      )
    },
    async insert(connection, { key, text, version }) {
      try {
        const values = [key, version, text].map(hex)
        await runAlone(
          connection,
          `${LOCK_WAIT}INSERT INTO ${table} (\`key\`, version, text) VALUES (${values})`,
        )
        return true
      } catch (error) {
        if (codeOf(error) !== MYSQL_DUPLICATE) throw error
        await run(connection, COMMIT)
        return false
      }
    },
    async update(connection, { key, text, version }, before) {
      const set = `SET version = ${hex(version)}, text = ${hex(text)}`
      const where = `WHERE \`key\` = ${hex(key)} AND version = ${hex(before)}`
      const { affectedRows } = await runAlone(connection, `${LOCK_WAIT}UPDATE ${table} ${set} ${where}`)
      return affectedRows === 1
    },
  }
}
