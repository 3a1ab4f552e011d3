import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { chown, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Keeper, keepFolder } from './keeper.js'
import { freePort } from './ports.js'
import { send } from './signals.js'
import type { User } from './users.js'
import { until } from './wait.js'

const ATTEMPTS = 5
const GRACE_MS = 3000
const CLOSING_MS = 1000

/**
 * Where a server lives: a free port of 127.0.0.1 and an empty folder of its own, which is also its working
 * folder.
 */
export interface Place {
  readonly port: number
  readonly folder: string
}

/** How to start a kind of server. */
export interface Recipe {
  /** For the folder's name and for error messages. */
  readonly name: string
  readonly program: string
  readonly args: (place: Place) => readonly string[]
  /** By default, that of this process. */
  readonly env?: NodeJS.ProcessEnv
  /** Who runs it and owns its folder, where that is not who runs this process. */
  readonly user?: User | undefined
  /** Writes what the server needs to find in its folder before its first start. */
  readonly prepare?: (place: Place) => Promise<unknown>
  /**
   * Whether the server answers. It must be sure that the process `pid` answers, and not a stranger that
   * took the port a moment before. A rejection is "not yet".
   */
  readonly ready: (place: Place, pid: number) => Promise<boolean>
  /** Whether its folder is in memory, where that can be had, for a server that waits for the disk at each write. */
  readonly inMemory?: boolean
  /** Further ports that it listens on, as distances from the first. */
  readonly portOffsets?: readonly number[]
  /** The signal that ends it: SIGTERM by default, then SIGKILL if it goes on. */
  readonly endSignal?: NodeJS.Signals
  /**
   * What `stop` sends a second before that, where it makes the server end as soon as its last client has
   * left.
   */
  readonly closingSignal?: NodeJS.Signals
}

/**
 * Starts a server and waits until it answers. When another program takes its port first, it tries another
 * port.
 */
export async function startProcess(recipe: Recipe): Promise<ServerProcess> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort(recipe.portOffsets)
    const server = new ServerProcess(recipe, port, await keepFolder(recipe.name, recipe.inMemory))
    try {
      if (recipe.user) await chown(server.folder, recipe.user.uid, recipe.user.gid)
      await recipe.prepare?.(server)
      await server.restart()
      return server
    } catch (cause) {
      const output = await server.output()
      await server.stop()
      if (attempt < ATTEMPTS && /address already in use/i.test(output)) continue
      throw new Error(`${recipe.name} did not start. ${output.slice(-2000)}`, { cause })
    }
  }
}

/** A server's process, which may be killed and come back in the same place. */
export class ServerProcess implements Place {
  readonly folder: string
  readonly #log: string
  #child: ChildProcess | undefined
  #stopped: Promise<void> | undefined

  constructor(
    readonly recipe: Recipe,
    readonly port: number,
    readonly keeper: Keeper,
  ) {
    this.folder = keeper.folder
    this.#log = join(keeper.folder, 'output.log')
  }

  /** `undefined` while it does not run. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Sends a signal. Resolves when the process has exited; for SIGSTOP and SIGCONT, at once. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    send(child, signal)
    if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') await waitForExit(child)
  }

  /** Starts it again, on the same port and in the same folder; ends it before where it still runs. */
  async restart(): Promise<void> {
    await this.#end()
    const child = this.#launch()
    const failed = new Promise<never>((_, reject) => child.once('error', reject))
    const answering = until(`${this.recipe.name} answers on port ${this.port}`, () => {
      return child !== this.#child || (child.pid !== undefined && this.recipe.ready(this, child.pid))
    })
    await Promise.race([answering, failed])
    if (child !== this.#child) throw new Error(`${this.recipe.name} exited at once`)
  }

  /** Ends it and removes its folder. May be called again. */
  stop(): Promise<void> {
    this.#stopped ??= this.#close()
      .then(() => this.#end())
      .then(() => this.keeper.release())
    return this.#stopped
  }

  /** What it has written so far; nothing before its first start. */
  output(): Promise<string> {
    return readFile(this.#log, 'utf8').catch(() => '')
  }

  #launch(): ChildProcess {
    const output = openSync(this.#log, 'a')
    const { program, args, env, user } = this.recipe
    const child = spawn(program, args(this), {
      cwd: this.folder,
      env,
      stdio: ['ignore', output, output],
      ...user,
    })
    closeSync(output)
    child.unref()
    this.#child = child
    this.keeper.guard(child.pid)
    for (const event of ['exit', 'error']) child.once(event, () => this.#forget(child))
    return child
  }

  #forget(child: ChildProcess): void {
    if (this.#child !== child) return
    this.#child = undefined
    this.keeper.guard(undefined)
  }

  async #close(): Promise<void> {
    const { closingSignal } = this.recipe
    if (closingSignal) await this.#signal(closingSignal, CLOSING_MS)
  }

  async #end(): Promise<void> {
    await this.#signal(this.recipe.endSignal ?? 'SIGTERM', GRACE_MS)
    await this.kill('SIGKILL')
  }

  async #signal(signal: NodeJS.Signals, timeoutMs: number): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    send(child, signal)
    send(child, 'SIGCONT') // a process that SIGSTOP holds hears nothing else
    await Promise.race([waitForExit(child), pause(timeoutMs, undefined, { ref: false })])
  }
}

async function waitForExit(child: ChildProcess): Promise<void> {
  child.ref()
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}
