import { callAsAsked } from './callers.js'
import { MYSQL_STORES } from './contenders/mysql-stores.js'

await callAsAsked(MYSQL_STORES)
