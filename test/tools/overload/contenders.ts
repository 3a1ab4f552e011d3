import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import Fastify, { type FastifyPluginAsync } from 'fastify'
import { overloadGuard } from '../../../src/http.js'
import { PRIORITIES, type Priority } from '../../../src/overload/cohorts.js'
import { envoyGradient, fixedLimit, gradient2, noGuard } from '../simulate/overload/guards.js'
import type { MakeGuard, SimRequest } from '../simulate/overload/world.js'
import { SERVER_KINDS, type Work } from './scenario.js'

type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void>

/** Lets a request pass, or denies it. */
type Guard = (req: IncomingMessage, res: ServerResponse, pass: () => Promise<void>) => void

export interface Contender {
  readonly server: Server
  /** The limit that it has found, if it has one. */
  limit?(): number
}

/** Creates a server that is guarded. */
type MakeContender = (setting: {
  readonly handle: Handler
  readonly work: Work
  /** The folder with the packages of other guards. */
  readonly packages: string
}) => Contender | Promise<Contender>

/** @fastify/under-pressure measures as often by default. The delay is lower than in its documentation (1 s). */
const SAMPLE_MS = 1000
const RESOLUTION_MS = 10
const MAX_DELAY_MS = 50

export const CONTENDERS: Readonly<Record<string, MakeContender>> = {
  none: simulated(() => noGuard),
  fixed: simulated((work) => fixedLimit(SERVER_KINDS[work].fixedLimit)),
  'loop delay': ({ handle }) => ({ server: guarded(handle, byLoopDelay()) }),
  'under-pressure': underPressure,
  Gradient2: simulated(() => gradient2),
  Envoy: simulated(() => envoyGradient),
  headgate,
}

function guarded(handle: Handler, guard: Guard): Server {
  return createServer((req, res) => guard(req, res, () => handle(req, res)))
}

function deny(res: ServerResponse): void {
  res.statusCode = 503
  res.setHeader('Retry-After', '1').end('Try again later.\n')
}

/** This package, with the functions that an application would write. */
function headgate({ handle }: { handle: Handler }): Contender {
  const guard = overloadGuard({
    key: ({ headers }) => String(headers['x-client']),
    priority: ({ headers }) => headers['x-priority'] as Priority,
    tenant: ({ headers }) => headers['x-tenant'] as string | undefined,
  })
  const server = createServer((req, res) => {
    guard(req, res, (error) => {
      if (error !== undefined) throw error
      handle(req, res)
    })
  })
  return { server, limit: () => guard.status().limit }
}

/** Puts a guard of the simulation in front of a real server. A request ends when its handler does. */
function simulated(makeGuard: (work: Work) => MakeGuard): MakeContender {
  return ({ handle, work }) => {
    const exchanges = new Map<SimRequest, { res: ServerResponse; pass(): Promise<void> }>()
    const guard = makeGuard(work)(
      {
        start(request) {
          const startedAtMs = performance.now()
          exchanges
            .get(request)
            ?.pass()
            .finally(() => {
              const nowMs = performance.now()
              exchanges.delete(request)
              guard.end(request, nowMs - startedAtMs, nowMs)
            })
        },
        deny(request) {
          const exchange = exchanges.get(request)
          exchanges.delete(request)
          if (exchange !== undefined) deny(exchange.res)
        },
      },
      Math.random,
      {},
    )
    if (guard.tick !== undefined) setInterval(() => guard.tick?.(performance.now()), 5)
    const server = guarded(handle, (req, res, pass) => {
      const nowMs = performance.now()
      const request = requestOf(req, nowMs)
      exchanges.set(request, { res, pass })
      guard.offer(request, nowMs, nowMs)
    })
    return { server, limit: () => guard.limit ?? Number.NaN }
  }
}

function requestOf({ headers }: IncomingMessage, bornAtMs: number): SimRequest {
  const { 'x-client': client, 'x-priority': priority, 'x-tenant': tenant } = headers
  return {
    ...{ bornAtMs, attempt: 0, routeClass: 'all', client: Number(client) },
    priority: PRIORITIES.indexOf(priority as Priority),
    ...(tenant !== undefined && { tenantId: String(tenant) }),
  }
}

/** Denies all requests while the event loop is late on average, as @fastify/under-pressure does. */
function byLoopDelay(): Guard {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  histogram.enable()
  let delayMs = 0
  setInterval(() => {
    delayMs = Math.max(0, histogram.mean / 1e6 - RESOLUTION_MS)
    histogram.reset()
  }, SAMPLE_MS)
  return (_req, res, pass) => {
    if (delayMs > MAX_DELAY_MS) deny(res)
    else pass()
  }
}

async function underPressure({
  handle,
  packages,
}: {
  handle: Handler
  packages: string
}): Promise<Contender> {
  const plugin = createRequire(join(packages, 'package.json'))('@fastify/under-pressure')
  const app = Fastify()
  app.register(plugin as FastifyPluginAsync<object>, {
    ...{ maxEventLoopDelay: MAX_DELAY_MS, sampleInterval: SAMPLE_MS, retryAfter: 1 },
  })
  app.get('/', (req, reply) => {
    reply.hijack()
    handle(req.raw, reply.raw)
  })
  await app.ready()
  return { server: app.server }
}
