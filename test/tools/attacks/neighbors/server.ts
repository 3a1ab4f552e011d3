/**
 * A site beside a neighbor, in a process of its own, since agents patch modules for good. Runs it twice, as two
 * processes that share their stores. Prints the ports, and ends with its parent.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { memoryStore, type Store } from 'headgate'
import type { LoginOptions } from '../../../../src/login/options.js'
import type { ServerTypes } from '../../../../src/util/framework-types.js'
import { guardOptions, type Mount } from '../adapters/login.js'
import { startAgent } from './agents.js'
import { listenOnExpress } from './express.js'
import { listenOnFastify } from './fastify.js'
import { listenOnHono } from './hono.js'
import { listenOnKoa } from './koa.js'
import { listenOnNodeHttp } from './node-http.js'
import type { Variant } from './variants.js'

/** Where a guard of a site is; `'two'`: in the routes of a login and of what checks no password. */
export type NeighborMount = Mount | 'two'

export type Guards<Handler> = (mount: NeighborMount) => Handler

/** Starts a site, and returns its port. */
export type Listen = () => Promise<number>

export interface SiteContext {
  /** Loads a module beside the neighbor. */
  readonly load: <T>(name: string) => T
  readonly layout: Variant['layout']
  readonly agent: Variant['agent']
  /** Returns the options of a guard, with the store that both sites share. */
  options(mount: NeighborMount): LoginOptions<ServerTypes<unknown, unknown>>
}

const SITES = {
  express: listenOnExpress,
  express4: listenOnExpress,
  koa: listenOnKoa,
  fastify: listenOnFastify,
  hono: listenOnHono,
  'node:http': listenOnNodeHttp,
  nest: nestOn('express'),
  'nest on fastify': nestOn('fastify'),
} satisfies Record<Variant['framework'], (context: SiteContext) => Promise<Listen>>

/** Loads the site of Nest, and Nest with its decorators, only once an agent has started. */
function nestOn(platform: 'express' | 'fastify') {
  return async (context: SiteContext): Promise<Listen> =>
    (await import('./nest.js')).listenOnNest(platform, context)
}

async function main(folder: string, { framework, agent, layout }: Variant): Promise<void> {
  const load = createRequire(join(folder, framework === 'express' ? 'express5/main.cjs' : 'main.cjs'))
  startAgent(agent, load)
  const stores = new Map<NeighborMount, Store>()
  const options = (mount: NeighborMount) => {
    const store = stores.get(mount) ?? memoryStore({ clock: () => 0 })
    stores.set(mount, store)
    return { ...guardOptions(mount), store }
  }
  const listen = await SITES[framework]({ load, layout, agent, options })
  process.stdout.write(`${JSON.stringify([await listen(), await listen()])}\n`)
}

process.stdin.on('close', () => process.exit()).resume()
main(process.argv[2] as string, JSON.parse(process.argv[3] as string)).catch((error: unknown) => {
  console.error(error)
  process.exit(1)
})
