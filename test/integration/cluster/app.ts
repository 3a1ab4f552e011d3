/**
 * An application as users write it: a primary that starts workers, which serve HTTP. The test gives the
 * primary its orders.
 */
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { clusterStore } from 'headgate/cluster'
import { concurrency, createLimiter, fixedWindow, rateLimit, sharedSettings } from 'headgate/http'
import { answerQuestions } from '../../bench/harness/child.js'

export const LIMIT = 1000
export const AT_ONCE = 20
/** How many charges `/burst` begins at once. It responds with how many are allowed. */
export const BURST = 600

/** What the primary does. */
export interface Order {
  /** Starts a worker, and answers with its number, process and port. */
  readonly fork?: true
  /** Starts a worker before there is a store. */
  readonly begin?: true
  /** Ends the worker of this number. */
  readonly kill?: number
  readonly signal?: NodeJS.Signals
  /** Asks the worker of this number to close its server and leave, as a rolling restart does. */
  readonly leave?: number
  /** Does nothing for so many milliseconds. */
  readonly hangMs?: number
  /** Charges a limiter of the primary itself, and answers with what is left. */
  readonly charge?: number
  /** Answers with how many requests may still be in flight. */
  readonly peekAtOnce?: true
  /** Answers with how many messages of workers have asked for something. */
  readonly countMessages?: true
  /** Changes the settings that the workers follow. */
  readonly limit?: number
}

export interface Started {
  readonly worker: number
  readonly pid: number
  readonly port: number
}

const all = () => 'all'
const total = {
  name: 'total',
  policy: fixedWindow({ limit: LIMIT, window: '300d', startsAt: 'first-request' }),
  key: all,
} as const
const atOnce = { name: 'at-once', policy: concurrency({ limit: AT_ONCE, ttl: '1h' }), key: all } as const
const changing = { name: 'changing', limit: 5, window: '1h', key: all } as const

function runPrimary(): void {
  const portOf = (worker: Worker) =>
    new Promise<number>((resolve) => {
      worker.on('message', function listen({ port }: { port?: number }) {
        if (port === undefined) return // it is one of headgate's
        worker.off('message', listen)
        resolve(port)
      })
    })
  const fork = async (): Promise<Started> => {
    const worker = cluster.fork()
    return { worker: worker.id, pid: worker.process.pid ?? 0, port: await portOf(worker) }
  }
  const open = () => {
    const store = clusterStore()
    return {
      total: createLimiter({ ...total, store }),
      atOnce: createLimiter({ ...atOnce, store }),
      settings: sharedSettings(store),
    }
  }
  let opened: ReturnType<typeof open> | undefined
  let messages = 0
  cluster.on('message', (_, message: { headgate?: string }) => {
    if (message.headgate === 'cluster-request') messages++
  })

  answerQuestions(async (order: Order) => {
    if (order.begin) return fork()
    opened ??= open()
    const worker = cluster.workers?.[order.kill ?? order.leave ?? 0]
    if (order.fork) return fork()
    if (order.kill !== undefined) {
      worker?.process.kill(order.signal ?? 'SIGKILL')
      if (worker !== undefined && order.signal === undefined) await once(worker, 'exit')
    }
    if (order.leave !== undefined && worker !== undefined) {
      worker.send('leave')
      const [code] = await once(worker, 'exit')
      return code
    }
    if (order.hangMs) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, order.hangMs)
    if (order.charge !== undefined)
      return (await opened.total.charge(undefined, { cost: order.charge })).remaining
    if (order.limit !== undefined) {
      const limits = { changing: { limit: order.limit } }
      await opened.settings.change('changing', (now) => ({ ...now, limits }), { by: 'ada', reason: 'a test' })
    }
    if (order.countMessages) return messages
    if (order.peekAtOnce) return (await opened.atOnce.peek(undefined)).remaining
    return undefined
  })
  process.on('disconnect', () => process.exit())
}

function runWorker(): void {
  const store = clusterStore()
  const settings = sharedSettings(store)
  const limits = {
    '/total': rateLimit({ ...total, store, timeout: '30s', onStoreError: 'deny' }), // on a busy machine also
    '/impatient': rateLimit({ ...total, store }),
    '/held': rateLimit({ ...atOnce, store }),
    '/changing': rateLimit({ ...changing, store, settings }),
  }
  const limiter = createLimiter({ ...total, store, timeout: '30s', onStoreError: 'deny' })
  const server = createServer(async (req, res) => {
    if (req.url === '/burst') {
      const decisions = await Promise.all(Array.from({ length: BURST }, () => limiter.charge(undefined)))
      res.end(String(decisions.filter(({ allowed }) => allowed).length))
      return
    }
    const limit = limits[req.url as keyof typeof limits]
    limit(req, res, (error?: unknown) => {
      if (error) res.statusCode = 500
      const { source } = (req as { rateLimit?: { source: string } }).rateLimit ?? {}
      if (req.url === '/held' && source === 'store')
        res.writeHead(200).write('held') // until its worker dies
      else res.end(source)
    })
  })
  process.on('message', (message) => {
    if (message === 'leave') server.close(() => process.disconnect())
  })
  server.listen({ port: 0, host: '127.0.0.1', exclusive: true }, () => {
    process.send?.({ port: (server.address() as AddressInfo).port })
  })
}

if (cluster.isPrimary) runPrimary()
else runWorker()
