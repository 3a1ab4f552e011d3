/**
 * The store for SQLite, which processes of one machine share.
 *
 * @module
 */

export type { SqlStore } from './stores/sql/sql-store.js'
export { sqliteSchema } from './stores/sql/sqlite/schema.js'
export { sqliteStore } from './stores/sql/sqlite/sqlite-store.js'
