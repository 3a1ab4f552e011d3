/** What a store's server takes for its work, in microseconds of one core. */
export interface Costs {
  /** For each request of a process, that is each write to a connection: reading it, and replying. */
  readonly requestUs: number
  /**
   * For each script call in it, of which a Cluster needs one for each slot. In a database, what a
   * transaction takes more than a single statement.
   */
  readonly callUs: number
  /** For each key in a call. */
  readonly keyUs: number
  /** For each charge of a key. */
  readonly chargeUs: number
}

export type StoreKind = 'redis' | 'memcached' | 'postgres'

/** As `npm run simulate -- --calibrate` measured them with Redis 7.0, memcached 1.6 and PostgreSQL 15. */
export const COSTS: Readonly<Record<StoreKind, Costs>> = {
  redis: { requestUs: 8, callUs: 18, keyUs: 3, chargeUs: 0.5 },
  memcached: { requestUs: 14, callUs: 0, keyUs: 2, chargeUs: 0.3 },
  postgres: { requestUs: 100, callUs: 550, keyUs: 20, chargeUs: 0 },
}

/** The work of one request. */
export interface Work {
  readonly calls: number
  readonly keys: number
  readonly charges: number
}

/** Returns the time that a request takes a server. */
export function serviceMs(
  { requestUs, callUs, keyUs, chargeUs }: Costs,
  { calls, keys, charges }: Work,
): number {
  return (requestUs + callUs * calls + keyUs * keys + chargeUs * charges) / 1000
}

/** What requests of four kinds take a server, in microseconds each. */
export interface Measured {
  /** One charge. */
  readonly lone: number
  /** `size` charges of one key in one call. */
  readonly hot: number
  /** `size` charges of as many keys in one call. */
  readonly wide: number
  /** `size` calls of one charge each, where a request can have several calls. */
  readonly split: number
}

/** Returns the costs that explain what was measured. */
export function costsFrom(kind: StoreKind, { lone, hot, wide, split }: Measured, size: number): Costs {
  const keyUs = (wide - hot) / (size - 1)
  // One charge is a statement, and several are a transaction, in which those of one key cost next to nothing.
  if (kind === 'postgres') return { requestUs: lone - keyUs, callUs: hot - lone, keyUs, chargeUs: 0 }
  const chargeUs = (hot - lone) / (size - 1)
  const callUs = kind === 'redis' ? (split - wide) / (size - 1) : 0
  return { requestUs: lone - callUs - keyUs - chargeUs, callUs, keyUs, chargeUs }
}
