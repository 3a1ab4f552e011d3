import { once } from 'node:events'
import { Agent, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import express, { type Request } from 'express'
import { fixedWindow, type Policy, rateLimit, type Store, slidingWindow, tokenBucket } from 'headgate'
import { customStore } from 'headgate/store'
import type { SoakCounts, SoakSettings } from './soak.js'
import { openTarget } from './target.js'

const WORKERS = 200
const WORK_MS = 200
const AFTER_ERROR_MS = 250
/** Restores nothing within a run, and denies nobody. */
const [LIMIT, LONG] = [100_000, '3000d']
const POLICIES: readonly Policy[] = [
  tokenBucket({ capacity: LIMIT, refill: LIMIT, every: LONG }),
  slidingWindow({ limit: LIMIT, window: LONG }),
  fixedWindow({ limit: LIMIT, window: LONG }),
]
const CLIENTS = 30
const MOST_UNITS = 3

const { target, run }: SoakSettings = JSON.parse(process.argv[2] ?? '')
const opened = openTarget(target)
/** Units that the store admitted for each client, less what was refunded. */
const kept = new Map<string, number>()
const counts = {
  requests: 0,
  bySource: {} as Record<string, number>,
  /** Sent in charges to the store, less what it admitted in time: it may have taken these, or not. */
  outcomesUnknown: 0,
  refundsUnknown: 0,
}
const crashes: string[] = []
let isOver = false

process.on('unhandledRejection', (reason) => crashes.push(`unhandled rejection: ${reason}`))
process.on('uncaughtException', (error) => crashes.push(`uncaught exception: ${error.stack}`))

const limit = rateLimit({
  name: 'soak',
  store: countCharged(opened.store),
  policy: ({ headers }) => POLICIES[Number(headers['x-client']) % POLICIES.length] as Policy,
  key: ({ headers }) => `${run}-${headers['x-client']}`,
  cost: ({ method }) => (method === 'POST' ? MOST_UNITS : 1),
  count: 'successful',
  onStoreError: 'local',
})
const { limiter } = limit
limiter.events.on('storeError', () => undefined)
limiter.events.on('refundFailed', () => {
  counts.refundsUnknown += MOST_UNITS
})

const app = express()
app.use(limit, ({ rateLimit: decision, headers, method }, res) => {
  const client = String(headers['x-client'])
  const source = decision?.source ?? 'none'
  counts.requests++
  counts.bySource[source] = (counts.bySource[source] ?? 0) + 1
  const isFailed = counts.requests % 10 === 0 // refunded
  const units = method === 'POST' ? MOST_UNITS : 1
  if (source === 'store') {
    counts.outcomesUnknown -= units
    if (!isFailed) kept.set(client, (kept.get(client) ?? 0) + units)
  }
  setTimeout(() => res.status(isFailed ? 404 : 200).end('done'), WORK_MS)
})
const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo

const agent = new Agent({ keepAlive: true, maxSockets: WORKERS })
const workers = Array.from({ length: WORKERS }, async (_, i) => {
  await pause(i)
  for (let sent = i; !isOver; sent += 7) if (!(await send(sent))) await pause(AFTER_ERROR_MS)
})

process.on('message', async (question: 'memory' | 'count') => {
  process.send?.(question === 'memory' ? memory() : await count())
  if (question === 'count') process.disconnect()
})
process.send?.('ready')

/** Counts the units that are sent to the store in charges. */
function countCharged(store: Store): Store {
  return customStore({
    ...store,
    apply(operations, settle) {
      for (const operation of operations)
        if (operation.type === 'charge')
          for (const { cost } of operation.parts) counts.outcomesUnknown += cost
      return store.apply(operations, settle)
    },
  })
}

function send(number: number): Promise<boolean> {
  const method = number % 4 === 0 ? 'POST' : 'GET'
  const headers = { 'x-client': String(number % CLIENTS), 'content-length': 0 }
  return new Promise((resolve) => {
    request({ agent, host: '127.0.0.1', port, method, headers })
      .once('error', (error) => {
        crashes.push(`no answer: ${error}`)
        resolve(false)
      })
      .once('response', (res) => {
        res.resume().once('end', () => resolve(res.statusCode !== 429))
      })
      .end()
  })
}

function memory(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

/** Compares what the store has counted of each client with what it admitted. */
async function count(): Promise<SoakCounts> {
  isOver = true
  await Promise.all(workers)
  await pause(1500) // late answers
  let charged = 0
  let under = 0
  for (let client = 0; client < CLIENTS; client++) {
    const policy = POLICIES[client % POLICIES.length] as Policy
    const { remaining, source } = await peek(client)
    if (source !== 'store') crashes.push(`the store does not answer at the end: ${source}`)
    const used = policy.limit - remaining
    charged += used
    under += Math.max(0, (kept.get(String(client)) ?? 0) - used)
  }
  await limiter.close()
  await opened.close()
  agent.destroy()
  server.close()
  server.closeAllConnections()
  const admitted = [...kept.values()].reduce((sum, units) => sum + units, 0)
  return { ...counts, admitted, charged, under, crashes }
}

async function peek(client: number) {
  const headers = { 'x-client': String(client) }
  return limiter.peek({ headers, method: 'GET' } as unknown as Request)
}
