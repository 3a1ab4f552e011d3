import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import express, { type Request, type Response } from 'express'
import { rateLimit, type StoreError } from 'headgate'
import type { Answers, AppSettings, Question } from './app.js'
import { policyOf } from './clients.js'
import { openTarget } from './target.js'
import { waits } from './waits.js'

const WORK_MS = 400
const LOOP_RESOLUTION_MS = 5

const { target, choice }: AppSettings = JSON.parse(process.argv[2] ?? '')
const opened = openTarget(target)
const waited = waits()
const loop = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS })
loop.enable()
const counts: Record<string, number> = {}
const crashes: string[] = []
const warnings: string[] = []

process.on('unhandledRejection', (reason) => crashes.push(`unhandled rejection: ${reason}`))
process.on('uncaughtException', (error) => crashes.push(`uncaught exception: ${error.stack}`))
process.on('warning', ({ name, message, code = name }: Error & { code?: string }) => {
  warnings.push(`${code}: ${message}`)
})

const limit = rateLimit({
  name: 'faults',
  store: opened.store,
  policy: (req) => policyOf(clientOf(req)),
  key: clientOf,
  onStoreError: choice === 'function' ? byMethod : choice,
  denyCache: false, // so that every answer shows the store's health
})
limit.limiter.events.on('storeError', () => undefined)

const app = express()
app.use((req, res, next) => {
  const arrivedMs = performance.now()
  let isOver = false
  const over = () => {
    if (!isOver) waited.add(performance.now() - arrivedMs)
    isOver = true
    if (!res.headersSent) showDecision(req, res)
  }
  endsWith(res, over)
  limit(req, res, (error) => {
    over()
    next(error)
  })
})
app.use((_req, res) => {
  setTimeout(() => res.end('done'), WORK_MS * (0.5 + Math.random())) // else requests would come in waves
})

const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
process.on('message', async ({ question }: { question: Question }) => {
  process.send?.(await ANSWERS[question]())
  if (question === 'close') process.disconnect()
})
process.send?.({ port: (server.address() as AddressInfo).port })

const ANSWERS: { readonly [Each in Question]: () => Promise<Answers[Each]> } = {
  async startCounting() {
    waited.clear()
    loop.reset()
    return {}
  },
  async resources() {
    const kinds: Record<string, number> = {}
    for (const kind of process.getActiveResourcesInfo()) kinds[kind] = (kinds[kind] ?? 0) + 1
    return { sockets: (kinds.TCPSocketWrap ?? 0) - (await connectionsTo()), listeners: listeners(), kinds }
  },
  async close() {
    const heldUpMs = Math.max(0, loop.max / 1e6 - LOOP_RESOLUTION_MS)
    loop.disable()
    const health = await limit.limiter.health()
    await limit.limiter.close()
    await opened.close()
    server.close()
    server.closeAllConnections()
    return { waits: waited.summary(), heldUpMs, counts, crashes, warnings, isHealthy: health.isHealthy }
  },
}

function clientOf(req: Request): string {
  return String(req.headers['x-client'])
}

function byMethod(_error: StoreError, req: Request): 'deny' | 'local' {
  return req.method === 'POST' ? 'deny' : 'local'
}

/** Calls back when an answer is being sent. */
function endsWith(res: Response, over: () => void): void {
  const { writeHead } = res
  res.writeHead = (...args: unknown[]) => {
    over()
    return Reflect.apply(writeHead, res, args)
  }
}

/** Says on the answer where its decision came from, and when it was made. */
function showDecision({ rateLimit }: Request, res: Response): void {
  if (res.hasHeader('x-source')) return
  const source = rateLimit?.source ?? 'unknown'
  res.setHeader('x-source', source)
  res.setHeader('x-decided-at', performance.timeOrigin + performance.now())
  res.once('finish', () => {
    const kind = `${source} ${res.statusCode}`
    counts[kind] = (counts[kind] ?? 0) + 1
  })
}

function connectionsTo(): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
  })
}

/** How many listeners the driver's objects have in all. */
function listeners(): number {
  const all = opened.emitters().flatMap((each) => each.eventNames().map((name) => each.listenerCount(name)))
  return all.reduce((sum, count) => sum + count, 0)
}
