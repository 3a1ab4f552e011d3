/**
 * The store for MySQL and MariaDB.
 *
 * @module
 */

export { mysqlStore } from './stores/sql/mysql/mysql-store.js'
export { mysqlSchema } from './stores/sql/mysql/schema.js'
export type { SqlStore } from './stores/sql/sql-store.js'
