import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { bundle } from '../../support/servers/bundle.js'
import { freePort } from '../../support/servers/ports.js'
import { until } from '../../support/servers/wait.js'
import { codeUnder, writeCode } from '../recipes/recipe.js'

/** A server of the docs whose counts go on in the next process. */
export interface RestartedServer {
  readonly port: number
  start(): Promise<void>
  /** Sends SIGTERM, and waits until the process has dumped its counts and exited. */
  stop(): Promise<void>
  remove(): Promise<void>
}

/**
 * Prepares the program on this page under "Restarts". Its window outlasts any test, and its limiter waits for a
 * store on a busy machine. `end` is added to its code.
 */
export async function restartedServer(page: string, end = ''): Promise<RestartedServer> {
  const port = await freePort()
  const code = codeUnder(page, 'Restarts')
    .replace('3000', String(port))
    .replace("window: '1m'", "window: '300d', timeout: '30s'")
  const recipe = writeCode(`${code}\n${end}`)
  const program = await bundle(recipe.file).finally(recipe.remove)
  const file = join(program.folder, 'limits.dump')
  let child: ChildProcess | undefined
  return {
    port,
    async start() {
      const env = { ...process.env, LIMITS_FILE: file }
      child = spawn(process.execPath, [program.path], { env, stdio: ['ignore', 'inherit', 'inherit'] })
      await until('the server listens', () => isListening(port))
      expect(existsSync(file)).toBe(false) // a dump is used once
    },
    async stop() {
      const exited = once(child as ChildProcess, 'exit')
      child?.kill('SIGTERM')
      expect(await exited).toEqual([0, null])
      expect(existsSync(file)).toBe(true)
    },
    async remove() {
      child?.kill('SIGKILL')
      rmSync(file, { force: true })
      await program.remove()
    },
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
