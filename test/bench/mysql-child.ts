import { callAsAsked } from './callers.js'
import { MYSQL_STORES, TWO_MYSQL_LIMITS } from './contenders/mysql-stores.js'

await callAsAsked({ ...MYSQL_STORES, ...TWO_MYSQL_LIMITS })
