import type { StoredDocument } from '../../documents.js'
import { type DocumentStatements, documentsTable } from '../documents.js'
import type { SqliteDatabase } from './client.js'
import { quoteName } from './schema.js'

/**
 * Creates the statements for documents. Each is its own transaction. They run so rarely, about once a
 * second, that each call prepares them again.
 */
export function sqliteDocuments(names: readonly string[]): DocumentStatements<SqliteDatabase> {
  const table = quoteName(documentsTable(names))
  return {
    table,
    async select(database, keys, knownVersions) {
      const version = database.prepare(`SELECT version FROM ${table} WHERE key = ?`)
      const both = database.prepare(`SELECT version, text FROM ${table} WHERE key = ?`)
      const found = new Map<string, StoredDocument>()
      for (const key of keys) {
        const [current] = Object.values(version.get(key) ?? {})
        if (current === undefined) continue
        if (knownVersions.includes(String(current))) found.set(key, { version: String(current) })
        else {
          const [latest, text] = Object.values(both.get(key) ?? {})
          found.set(key, { version: String(latest), text: String(text) })
        }
      }
      return found
    },
    async insert(database, { key, text, version }) {
      const sql = `INSERT INTO ${table} (key, version, text) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING`
      return Number(database.prepare(sql).run(key, version, text).changes) === 1
    },
    async update(database, { key, text, version }, before) {
      const sql = `UPDATE ${table} SET version = ?, text = ? WHERE key = ? AND version = ?`
      return Number(database.prepare(sql).run(version, text, key, before).changes) === 1
    },
  }
}
