/**
 * The store for PostgreSQL.
 *
 * @module
 */

export { postgresStore } from './stores/sql/postgres/postgres-store.js'
export { postgresSchema } from './stores/sql/postgres/schema.js'
export type { SqlStore } from './stores/sql/sql-store.js'
