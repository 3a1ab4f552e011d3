import { callAsAsked } from './callers.js'
import { POSTGRES_STORES, TWO_POSTGRES_LIMITS } from './contenders/postgres-stores.js'

await callAsAsked({ ...POSTGRES_STORES, ...TWO_POSTGRES_LIMITS })
