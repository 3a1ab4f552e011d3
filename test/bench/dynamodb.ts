import { type Policy, slidingLog, slidingWindow, tokenBucket } from 'headgate'
import { dynamodbStore } from 'headgate/dynamodb'
import { type Store, StoreError } from 'headgate/store'
import { type Dynalite, startDynalite } from '../integration/dynamodb/dynalite.js'
import { openClient, type TestClient } from '../integration/dynamodb/open.js'
import { printTable } from './harness/table.js'
import { isShort } from './workloads.js'

const CALLERS = [1, 5, 20, 50]
const DECISIONS = isShort ? 1000 : 4000
const POLICIES: Readonly<Record<string, Policy>> = {
  tokenBucket: tokenBucket({ capacity: 100, refill: 100, every: '1s' }),
  slidingWindow: slidingWindow({ limit: 100, window: '1s' }),
  slidingLog: slidingLog({ limit: 30, window: '1s' }),
}

/** What decisions of one key took in the database, and how long each took. */
interface Figures {
  writeUnits: number
  readUnits: number
  failedConditions: number
  /** Decisions that failed, as when the machine is busy for more than a second. */
  failed: number
  tookMs: number[]
}

/**
 * Callers with a store each, as functions have that serve one request at a time, charge one key in DynamoDB, each
 * again as soon as it has its reply.
 */
export async function benchDynamodb(): Promise<void> {
  const server = await startDynalite()
  try {
    for (const [name, policy] of Object.entries(POLICIES)) {
      const rows: string[][] = []
      for (const callers of CALLERS) rows.push(rowOf(callers, await contend(server, callers, name, policy)))
      const head = ['callers', 'write units', 'read units', 'failed conditions', 'median', '99 %', 'failed']
      printTable(`${DECISIONS} decisions of one key in dynalite, each: ${name}`, head, rows)
    }
  } finally {
    await server.stop()
  }
}

async function contend(server: Dynalite, callers: number, name: string, policy: Policy): Promise<Figures> {
  const figures: Figures = { writeUnits: 0, readUnits: 0, failedConditions: 0, failed: 0, tookMs: [] }
  const clients = Array.from({ length: callers }, () => openClient(server.folder, server.port))
  const stores = clients.map((client) => dynamodbStore(metered(client, figures)))
  await stores[0]?.prepare()
  for (const store of stores) await charge(store, `${name}-warm`, policy, figures) // all are connected
  Object.assign(figures, { writeUnits: 0, readUnits: 0, failedConditions: 0, failed: 0, tookMs: [] })
  let left = DECISIONS
  await Promise.all(
    stores.map(async (store) => {
      while (left-- > 0) await charge(store, `${name}-${callers}`, policy, figures)
    }),
  )
  for (const client of clients) client.destroy()
  return figures
}

async function charge(store: Store, key: string, policy: Policy, figures: Figures): Promise<void> {
  const startMs = performance.now()
  const [outcome] = await store.apply([{ type: 'charge', parts: [{ key, policy, cost: 1 }] }])
  figures.tookMs.push(performance.now() - startMs)
  if (outcome instanceof StoreError) figures.failed++
}

/** A failed condition takes as many write units as the item has, which no reply shows: those of the last write. */
function metered(client: TestClient, figures: Figures): TestClient {
  let lastUnits = 1
  const meter = (name: 'getItem' | 'putItem' | 'updateItem' | 'deleteItem') => async (input: object) => {
    try {
      const reply = await client[name]({ ...input, ReturnConsumedCapacity: 'TOTAL' })
      const units: number = reply.ConsumedCapacity.CapacityUnits
      if (name === 'getItem') figures.readUnits += units
      else {
        figures.writeUnits += units
        lastUnits = units
      }
      return reply
    } catch (error) {
      if (Object(error).name !== 'ConditionalCheckFailedException') throw error
      figures.failedConditions++
      figures.writeUnits += lastUnits
      throw error
    }
  }
  const methods = {
    getItem: meter('getItem'),
    putItem: meter('putItem'),
    updateItem: meter('updateItem'),
    deleteItem: meter('deleteItem'),
  }
  return Object.assign(Object.create(client), methods)
}

function rowOf(
  callers: number,
  { writeUnits, readUnits, failedConditions, failed, tookMs }: Figures,
): string[] {
  const each = (count: number) => (count / tookMs.length).toFixed(3)
  const sorted = tookMs.sort((a, b) => a - b)
  const at = (share: number) => `${(sorted[Math.floor(share * sorted.length)] ?? 0).toFixed(1)} ms`
  return [
    String(callers),
    each(writeUnits),
    each(readUnits),
    each(failedConditions),
    at(0.5),
    at(0.99),
    String(failed),
  ]
}
