import type { Documents, StoredDocument } from '../documents.js'
import { textVersion } from '../shared/text-version.js'
import { rowKey } from './table.js'

/** A document to write. */
export interface NewDocument {
  /** The key of the row. */
  readonly key: string
  readonly text: string
  readonly version: string
}

/**
 * The statements for documents in a kind of database. Documents have their own table, beside the states'
 * table.
 */
export interface DocumentStatements<Connection> {
  /** The table's name, quoted. */
  readonly table: string
  /** Returns the documents that exist in these rows, by key. Leaves out the text of a known version. */
  select(
    connection: Connection,
    keys: readonly string[],
    knownVersions: readonly string[],
  ): Promise<ReadonlyMap<string, StoredDocument>>
  /** Inserts a document. Returns false if its key already has one. */
  insert(connection: Connection, document: NewDocument): Promise<boolean>
  /** Replaces the document if it has this version. Returns false otherwise. */
  update(connection: Connection, document: NewDocument, version: string): Promise<boolean>
}

/** Runs statements on a connection. Retries after an error that changed nothing. */
type RunOn<Connection> = <T>(use: (connection: Connection) => Promise<T>) => Promise<T>

/** Creates the documents of a database. Its methods reject with the errors of `run`. */
export function sqlDocuments<Connection>(
  { select, insert, update }: DocumentStatements<Connection>,
  run: RunOn<Connection>,
): Documents {
  return {
    async read(requests) {
      if (requests.length === 0) return []
      const keys = requests.map(({ key }) => rowKey(key))
      const known = requests.flatMap(({ version }) => version ?? [])
      const found = await run((connection) => select(connection, keys, known))
      return keys.map((key) => found.get(key))
    },
    replace(key, text, version) {
      const document = { key: rowKey(key), text, version: textVersion(text) }
      return run((connection) =>
        version === undefined ? insert(connection, document) : update(connection, document, version),
      )
    },
  }
}

/** Returns the names of the documents' table, derived from those of the states' table. */
export function documentsTable(names: readonly string[]): readonly string[] {
  return names.with(-1, `${names.at(-1)}_documents`)
}
