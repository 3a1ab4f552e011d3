import type { Documents } from '../documents.js'
import type { ObjectStorage } from './platform.js'

const TABLE =
  'CREATE TABLE IF NOT EXISTS headgate_documents (key TEXT PRIMARY KEY, version TEXT NOT NULL, text TEXT NOT NULL) WITHOUT ROWID'
const SELECT = 'SELECT version, iif(version = ?, NULL, text) AS text FROM headgate_documents WHERE key = ?'
const WRITE = 'INSERT OR REPLACE INTO headgate_documents VALUES (?, ?, ?)'

/** Returns the documents in the storage of an object. SQL runs synchronously, so each call is one step. */
export function objectDocuments({ sql }: ObjectStorage): Documents {
  sql.exec(TABLE)
  const find = (key: string, known: string | undefined) => sql.exec(SELECT, known ?? null, key).toArray()[0]
  return {
    async read(requests) {
      return requests.map(({ key, version: known }) => {
        const { version, text } = find(key, known) ?? {}
        if (version === undefined) return undefined
        return { version: String(version), ...(text !== null && { text: String(text) }) }
      })
    },
    async replace(key, text, version) {
      if (find(key, version)?.version !== version) return false
      sql.exec(WRITE, key, crypto.randomUUID(), text)
      return true
    },
  }
}
