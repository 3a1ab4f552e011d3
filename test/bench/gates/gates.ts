import { LIVE_GATES } from './live-gates.js'
import { MEMORY_GATES } from './memory-gates.js'
import { STORE_GATES } from './store-gates.js'

/** All gates by name. */
export const GATES = { ...MEMORY_GATES, ...STORE_GATES, ...LIVE_GATES } as const
