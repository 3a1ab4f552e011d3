import { STORE_GATES } from './store-gates.js'

/** All gates by name. */
export const GATES = { ...STORE_GATES } as const
