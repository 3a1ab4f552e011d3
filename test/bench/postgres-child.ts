import { callAsAsked } from './callers.js'
import { POSTGRES_STORES } from './contenders/postgres-stores.js'

await callAsAsked(POSTGRES_STORES)
