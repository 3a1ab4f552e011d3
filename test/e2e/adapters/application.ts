import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Decision } from 'headgate'
import { headerOf } from '../../../src/keys/request.js'
import {
  type GuardName,
  type GuardOptions,
  makeGuards,
  makeOverloads,
  makeScenarios,
  type Overload,
  type OverloadName,
  type Scenario,
  type ScenarioName,
  type Switchable,
} from './scenarios.js'
import { type Signals, serveSignals } from './signals.js'

/** What a handler sends. */
export interface HandlerAnswer {
  readonly status: number
  readonly text: string
}

/** A server that runs, perhaps in another process. */
export interface Running {
  readonly port: number
  /** The port where `signalsAt` reads what has happened in the server. */
  readonly signalPort: number
  close(): Promise<void>
}

/** What the applications of all frameworks share. Each puts a parser of JSON bodies in front. */
export interface Application {
  readonly scenarios: readonly (readonly [ScenarioName, Scenario])[]
  /** Paths with a login guard in front of the handler, where the framework has one. */
  readonly guards: readonly (readonly [GuardName, GuardOptions])[]
  /** Paths with an overload guard in front of the handler. */
  readonly overloads: readonly (readonly [OverloadName, Overload])[]
  /** The user that a request is authenticated as: the header `x-user` names it. */
  userOf(req: unknown): { id: string } | undefined
  /**
   * Returns what the handler of a scenario sends: the status in the header `x-status`, and the decision that
   * it finds as JSON. With the header `x-hold` it waits until the test releases it. With `x-throw` it throws.
   */
  handle(name: string, req: unknown, decision: Decision | undefined): Promise<HandlerAnswer>
  /** Starts a server on ::1. Its test sends requests there, and signals to another port. */
  listen(server: http.Server, close?: () => Promise<unknown>): Promise<Running>
}

/** Creates the application with the states of its own. */
export function makeApplication(): Application {
  const signals = serveSignals()
  let isFirst = true
  const beforeCharge = async () => {
    if (!isFirst) return
    isFirst = false
    await signals.hold('charging')
  }
  const scenarios = makeScenarios(beforeCharge, (limiter) =>
    signals.onMode((mode) => {
      limiter.mode = mode
    }),
  )
  return {
    scenarios: Object.entries(scenarios) as [ScenarioName, Scenario][],
    guards: Object.entries(makeGuards()) as [GuardName, GuardOptions][],
    overloads: Object.entries(makeOverloads()) as [OverloadName, Overload][],
    userOf(req) {
      const id = headerOf(req, 'x-user')
      return id === undefined ? undefined : { id }
    },
    async handle(name, req, decision) {
      signals.count(`handled /${name}`)
      if (headerOf(req, 'x-hold') !== undefined) await signals.hold('handling')
      if (headerOf(req, 'x-throw') !== undefined) throw new Error('the handler failed')
      const { allowed, remaining, source } = decision ?? {}
      return {
        status: Number(headerOf(req, 'x-status') ?? 200),
        text: JSON.stringify({ allowed, remaining: Number.isFinite(remaining) ? remaining : null, source }),
      }
    },
    listen: (server, close) => listen(server, signals, close),
  }
}

/** What `onDenied` answers where a scenario says so. */
export function limitedAnswer({ retryAfterMs }: Decision): HandlerAnswer {
  return { status: 420, text: `wait ${retryAfterMs} ms` }
}

/** Creates the limiters of a scenario, in the order in which they stand in front of its handler. */
export function limitersOf<L extends { readonly limiter: Switchable }>(
  { limiters, isMountedTwice, onLimiter }: Scenario,
  create: (options: Scenario['limiters'][number]) => L,
): L[] {
  const created = limiters.map(create)
  for (const { limiter } of created) onLimiter?.(limiter)
  return isMountedTwice ? [...created, ...created] : created
}

async function listen(server: http.Server, signals: Signals, close?: () => Promise<unknown>) {
  server.prependListener('request', ({ url }: http.IncomingMessage, res: http.ServerResponse) => {
    res.once('close', () => signals.count(`closed ${url}`))
  })
  const control = http.createServer(signals.answer)
  async function end(ended: http.Server): Promise<void> {
    ended.closeAllConnections()
    if (!ended.listening) return
    ended.close()
    await once(ended, 'close')
  }
  return {
    port: await portOf(server),
    signalPort: await portOf(control),
    async close() {
      await close?.()
      await end(server)
      await end(control)
    },
  }
}

async function portOf(server: http.Server): Promise<number> {
  if (!server.listening) {
    server.listen(0, '::1')
    await once(server, 'listening')
  }
  return (server.address() as AddressInfo).port
}

/** Returns a guard once or twice, as it stands in front of its handler. */
export function timesMounted<Guard>({ isMountedTwice }: Overload, guard: Guard): Guard[] {
  return isMountedTwice ? [guard, guard] : [guard]
}
