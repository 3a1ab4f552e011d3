import { type Policy, slidingLog, slidingWindow, tokenBucket } from 'headgate'
import { dynamodbStore } from 'headgate/dynamodb'
import { type Store, StoreError } from 'headgate/store'
import { type Costs, metered } from './clients.js'
import { openClient } from './open.js'
import type { Tables } from './use-dynalite.js'

/** The policies and numbers of callers of the table in docs/stores/dynamodb.md, in its order. */
export const CONTENDED: Readonly<Record<string, Policy>> = {
  tokenBucket: tokenBucket({ capacity: 100, refill: 100, every: '1s' }),
  slidingWindow: slidingWindow({ limit: 100, window: '1s' }),
  slidingLog: slidingLog({ limit: 30, window: '1s' }),
}
export const CALLERS = [1, 5, 20, 50]

/** What decisions of one key took in the database, and how long each took. */
export interface Contention {
  readonly costs: readonly Costs[]
  /** Decisions that failed. */
  failed: number
  readonly tookMs: number[]
}

/**
 * Callers with a client each, as functions have that serve one request at a time, charge one key, each again
 * as soon as it has its reply.
 */
export async function contend(
  { server: { folder, port } }: Pick<Tables, 'server'>,
  table: string,
  callers: number,
  policy: Policy,
  decisions: number,
): Promise<Contention> {
  const clients = Array.from({ length: callers }, () => openClient(folder, port))
  const [first] = clients
  if (first !== undefined) await dynamodbStore(first, { table }).prepare()
  await Promise.all(clients.map((client) => client.describeTable({ TableName: table }))) // all are connected
  const meters = clients.map(metered)
  const contention: Contention = { costs: meters.map(({ costs }) => costs), failed: 0, tookMs: [] }
  let left = decisions
  await Promise.all(
    meters.map(async ({ client }) => {
      const store = dynamodbStore(client, { table })
      while (left-- > 0) await chargeTimed(store, policy, contention)
    }),
  )
  for (const client of clients) client.destroy()
  return contention
}

async function chargeTimed(store: Store, policy: Policy, contention: Contention): Promise<void> {
  const startMs = performance.now()
  const [outcome] = await store.apply([{ type: 'charge', parts: [{ key: 'contended', policy, cost: 1 }] }])
  contention.tookMs.push(performance.now() - startMs)
  if (outcome instanceof StoreError) contention.failed++
}
