import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Place } from '../support/servers/processes.js'
import { HOST } from '../support/servers/server.js'
import type { Resolution } from './bundle-app.js'
import { inRuntimes } from './fetched.js'
import { workerdConfig } from './workerd-config.js'

/** What a test starts an application with. */
export interface StartOptions {
  /** The module that the application imports as `store-of-the-runtime`: one of `stores/`. */
  readonly store?: string
  /** A folder of packages that the store imports, and the checkout does not have. */
  readonly packages?: string
  /** What the application reads as `process.env.NAME`. */
  readonly env?: Readonly<Record<string, string>>
  /** Further arguments of the runtime: permissions of Deno, flags of Node.js. */
  readonly args?: readonly string[]
  /** The classes of Durable Objects that the application exports, by the name of their binding. */
  readonly durableObjects?: Readonly<Record<string, string>>
  /** How many more isolates of workerd serve it: the application reaches each by the binding `ISOLATE_1` and so on. */
  readonly isolates?: number
}

/** How to run an application in one runtime. */
export interface Runtime extends Resolution {
  /** The file of `hosts/` that serves the application, where the runtime does not by itself. */
  readonly host?: string
  /**
   * The program, and the arguments with which it serves a bundle on the port of its place. It prints `listening`,
   * or what workerd prints instead.
   */
  command(bundle: string, place: Place, options: StartOptions): Promise<readonly string[]> | readonly string[]
}

const NODE_MODULES = ['node:*']
const WORKER_CONDITIONS = ['workerd', 'worker', 'browser', 'import']

function workerd(flags: readonly string[], builtin: readonly string[]): Runtime {
  return {
    platform: 'neutral',
    conditions: WORKER_CONDITIONS,
    builtin: ['cloudflare:*', ...builtin],
    format: 'esm',
    async command(bundle, { port, folder }, { durableObjects = {}, isolates = 0, args = [] }) {
      const config = join(folder, 'config.capnp')
      const storage = join(folder, 'objects')
      mkdirSync(storage)
      const address = `${HOST}:${port}`
      const served = { module: basename(bundle), address, storage, flags, durableObjects, isolates }
      writeFileSync(config, workerdConfig(served))
      return [await inRuntimes('workerd/bin/workerd'), 'serve', '--control-fd=1', ...args, config]
    },
  }
}

const DENO: Runtime = {
  platform: 'neutral',
  conditions: ['deno', 'import'],
  builtin: NODE_MODULES,
  format: 'esm',
  host: 'deno.mjs',
  async command(bundle, { port }, { args = [] }) {
    const flags = ['--quiet', '--no-prompt', '--no-config', '--allow-net', ...args]
    return [await inRuntimes('.bin/deno'), 'run', ...flags, bundle, String(port)]
  },
}

export const RUNTIMES = {
  'Node.js': {
    platform: 'node',
    conditions: ['node', 'import'],
    builtin: [],
    format: 'esm',
    host: 'node.mjs',
    command: (bundle, { port }, { args = [] }) => [process.execPath, ...args, bundle, String(port)],
  },
  workerd: workerd([], []),
  'workerd with nodejs_compat': workerd(['nodejs_compat'], NODE_MODULES),
  'edge-runtime': {
    platform: 'neutral',
    conditions: ['edge-light', 'worker', 'browser', 'import'],
    builtin: [],
    format: 'iife',
    host: 'edge-function.mjs',
    async command(bundle, { port }) {
      const host = join(__dirname, 'hosts/edge-runtime.cjs')
      return [process.execPath, host, await inRuntimes('edge-runtime'), bundle, String(port)]
    },
  },
  Deno: DENO,
  /** As Deno runs packages of npm: they require modules of Node.js, and read its environment. */
  'Deno with packages for Node.js': {
    ...DENO,
    platform: 'node',
    conditions: ['deno', 'node', 'import'],
    command: (bundle, place, options) =>
      DENO.command(bundle, place, { ...options, args: ['--allow-env', '--allow-sys', '--allow-read'] }),
  },
  Bun: {
    platform: 'node',
    conditions: ['bun', 'import'],
    builtin: ['bun'],
    format: 'esm',
    host: 'bun.mjs',
    command: async (bundle, { port }, { args = [] }) => [
      await inRuntimes('.bin/bun'),
      ...args,
      bundle,
      String(port),
    ],
  },
} satisfies Record<string, Runtime>

export type RuntimeName = keyof typeof RUNTIMES
