// Stores of the user's own, made by each builder.
import { memoryStore, rateLimit } from 'headgate/http'
import {
  applyOperations,
  compareAndSwapStore,
  customStore,
  optimisticStore,
  ownerStore,
  type State,
  type Store,
  serveOperations,
  transactionStore,
} from 'headgate/store'

interface Kv {
  getMany(keys: readonly string[]): Promise<readonly { value: unknown; etag: string }[]>
  put(key: string, value: State | undefined, options: { ifMatch?: string; ttlMs: number }): Promise<boolean>
}

interface Transaction {
  query(sql: string, values: readonly unknown[]): Promise<readonly { key: string; state: State }[]>
}

export function stores(
  kv: Kv,
  transaction: <T>(run: (transaction: Transaction) => Promise<T>) => Promise<T>,
  post: (body: string) => Promise<string>,
): Store[] {
  const states = new Map<string, State>()
  return [
    compareAndSwapStore<string>({
      name: 'kv',
      read: async (keys) =>
        (await kv.getMany(keys)).map(({ value, etag }) =>
          value === null ? undefined : { state: value, version: etag },
        ),
      swap: ({ key, version, state, ttlMs }) =>
        kv.put(key, state, { ttlMs, ...(version !== undefined && { ifMatch: version }) }),
      batching: { maxKeys: 10, maxInFlight: 2 },
    }),
    optimisticStore<string>({
      name: 'versions',
      read: (keys) => keys.map(() => undefined),
      commit: ({ checks, writes }) =>
        checks.every(({ version }) => version !== 'old') && writes.every(({ ttlMs }) => ttlMs >= 0),
      isTemporary: (error) => error instanceof RangeError,
    }),
    transactionStore<Transaction>({
      name: 'sql',
      transaction: (run) => transaction(async (tx) => run(tx)),
      async lockAndRead(tx, keys) {
        const rows = await tx.query('SELECT key, state FROM limits WHERE key = ANY($1) FOR UPDATE', [keys])
        return { states: new Map(rows.map(({ key, state }) => [key, state])), nowMs: Date.now() }
      },
      async write(tx, writes) {
        for (const { key, state, expiresAtMs, isNew } of writes)
          await tx.query(isNew ? 'INSERT …' : 'UPDATE …', [key, state, expiresAtMs])
      },
      isTemporary: (error) => error instanceof Error,
    }),
    ownerStore({
      name: 'owner',
      send: async (message) => JSON.parse(await post(JSON.stringify(message))) as unknown,
    }),
    customStore({
      name: 'map',
      apply(operations) {
        const { outcomes, writes } = applyOperations(operations, (key) => states.get(key), Date.now())
        for (const { key, state } of writes) {
          if (state === undefined) states.delete(key)
          else states.set(key, state)
        }
        return outcomes
      },
    }),
  ]
}

export async function serve(body: string): Promise<string> {
  return JSON.stringify(await serveOperations(memoryStore())(JSON.parse(body)))
}

export function limiters(of: readonly Store[]) {
  return of.map((store) => rateLimit({ limit: 2, window: '1h', store }))
}
