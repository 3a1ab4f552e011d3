export type {
  MysqlCallbackPool,
  MysqlConnection,
  MysqlPool,
  MysqlQuery,
} from './stores/sql/mysql/client.js'
export { mysqlStore } from './stores/sql/mysql/mysql-store.js'
export { mysqlSchema } from './stores/sql/mysql/schema.js'
export type { SqlStore } from './stores/sql/sql-store.js'
export type { SqlStoreOptions } from './stores/sql/table.js'
