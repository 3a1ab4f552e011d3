import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { overloadGuard } from '../../../src/http.js'
import { PRIORITIES, type Priority } from '../../../src/overload/cohorts.js'
import { byWait, envoyGradient, fixedLimit, gradient2, noGuard } from '../simulate/overload/guards.js'
import type { MakeGuard, SimRequest } from '../simulate/overload/world.js'
import { type Contender, deny, guarded, type Handler, type MakeContender } from './contender.js'
import { loopDelay, overloadProtection, tooBusy, underPressure } from './loop-guards.js'
import { SERVER_KINDS, type Work } from './scenario.js'

/** How guards are made, by their names in `GUARDS`. */
export const CONTENDERS: Readonly<Record<string, MakeContender>> = {
  none: simulated(() => noGuard),
  fixed: simulated(rightLimit),
  'loop delay': loopDelay,
  'under-pressure': underPressure,
  'toobusy-js': tooBusy,
  'overload-protection': overloadProtection,
  Gradient2: simulated(() => gradient2),
  Envoy: simulated(() => envoyGradient),
  headgate,
}

/**
 * Where handlers run one after the other, one runs at a time under any load, and no limit is right. What
 * helps there is to know since when each client waits, which no guard does outside of a test.
 */
function rightLimit(work: Work): MakeGuard {
  const { fixedLimit: limit, patienceMs } = SERVER_KINDS[work]
  return limit === undefined ? byWait(patienceMs / 2) : fixedLimit(limit)
}

/** This package, with the functions that an application would write. */
function headgate({ handle }: { handle: Handler }): Contender {
  const guard = overloadGuard({
    key: ({ headers }) => String(headers['x-client']),
    priority: ({ headers }) => headers['x-priority'] as Priority,
    tenant: ({ headers }) => headers['x-tenant'] as string | undefined,
    routeClass: ({ url }) => String(url), // a framework would know the route
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
    )
    const server = guarded(handle, (req, res, pass) => {
      const request = requestOf(req)
      const nowMs = performance.now()
      exchanges.set(request, { res, pass })
      guard.offer(request, nowMs)
    })
    return { server, limit: () => guard.limit ?? Number.NaN }
  }
}

/** Only the fixed guard reads when a request was sent. The generator has the clock of the same machine. */
function requestOf({ headers }: IncomingMessage): SimRequest {
  const { 'x-client': client, 'x-priority': priority, 'x-tenant': tenant, 'x-sent': sentAtMs } = headers
  return {
    ...{ attempt: 0, routeClass: 'all', client: Number(client) },
    bornAtMs: Number(sentAtMs) - performance.timeOrigin,
    priority: PRIORITIES.indexOf(priority as Priority),
    ...(tenant !== undefined && { tenantId: String(tenant) }),
  }
}
