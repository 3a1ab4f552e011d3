import type { StoredDocument } from '../../documents.js'
import { type DocumentStatements, documentsTable } from '../documents.js'
import { type PostgresConnection, run } from './client.js'
import { keyArray } from './codec.js'
import { quoteName } from './schema.js'

/** Creates the statements for documents. */
export function postgresDocuments(names: readonly string[]): DocumentStatements<PostgresConnection> {
  const table = quoteName(documentsTable(names))

  /** Runs one statement as its own transaction. Returns whether it wrote a row. */
  async function write(connection: PostgresConnection, sql: string): Promise<boolean> {
    const [reply] = await run(connection, `${sql} RETURNING 1`)
    return reply?.rows.length === 1
  }

  return {
    table,
    async select(connection, keys, knownVersions) {
      const text = `CASE WHEN version = ANY(${keyArray(knownVersions)}) THEN NULL ELSE encode(text, 'hex') END`
      const columns = `encode(key, 'hex'), encode(version, 'hex'), ${text}`
      const [reply] = await run(
        connection,
        `SELECT ${columns} FROM ${table} WHERE key = ANY(${keyArray(keys)})`,
      )
      return new Map(
        (reply?.rows ?? []).map(([key, version, found = null]): [string, StoredDocument] => [
          textIn(key),
          { version: textIn(version), ...(found !== null && { text: textIn(found) }) },
        ]),
      )
    },
    insert(connection, { key, text, version }) {
      const values = [key, version, text].map(bytes)
      return write(
        connection,
        `INSERT INTO ${table} (key, version, text) VALUES (${values}) ON CONFLICT (key) DO NOTHING`,
      )
    },
    update(connection, { key, text, version }, before) {
      const set = `SET version = ${bytes(version)}, text = ${bytes(text)}`
      const where = `WHERE key = ${bytes(key)} AND version = ${bytes(before)}`
      return write(connection, `UPDATE ${table} ${set} ${where}`)
    },
  }
}

/** Returns a text as a literal of its bytes, which is valid under any settings of the connection. */
function bytes(text: string): string {
  return `decode('${Buffer.from(text).toString('hex')}', 'hex')`
}

function textIn(hexadecimal: string | null | undefined): string {
  return Buffer.from(hexadecimal ?? '', 'hex').toString()
}
