import { type FaultyProxy, startProxy } from '../../support/proxy.js'
import type { Server } from '../../support/servers/server.js'
import type { Target } from './target.js'

/** A real store, as an application finds it, and what a fault can do to it. */
export interface Stage {
  readonly target: Target
  /** Between the application and the store. */
  readonly proxy: FaultyProxy
  /** The server's process. */
  readonly server: Server
  /** Queries the server without the proxy. Rejects while it does not answer. */
  answers(): Promise<unknown>
  /** Whether a fault leaves it changed for good. */
  readonly isUsedUp?: boolean
  stop(): Promise<void>
}

/** What is done to a store. */
export interface Fault<S extends Stage = Stage> {
  readonly name: string
  /** How often the store may forget what it has counted. Default 0. */
  readonly losses?: number
  /** Whether the store goes on deciding all the time. */
  readonly isHarmless?: boolean
  /** Done before the application starts. */
  before?(stage: S): Promise<unknown>
  /** Inflicts the fault, and ends it. */
  inflict(stage: S): Promise<unknown>
}

/** A store, and the faults that are tried on it. */
export interface Scene<S extends Stage = Stage> {
  readonly store: string
  readonly faults: readonly Fault<S>[]
  start(): Promise<S>
}

/** Puts a proxy before a server. */
export async function behindProxy<S extends Server, More extends object>(
  server: S,
  targetOf: (proxy: FaultyProxy) => Target,
  answers: () => Promise<unknown>,
  more: More,
): Promise<Stage & { readonly server: S } & More> {
  const proxy = await startProxy(server)
  return {
    ...more,
    target: targetOf(proxy),
    proxy,
    server,
    answers,
    async stop() {
      await proxy.stop()
      await server.stop()
    },
  }
}
