import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { bundle } from '../../support/servers/bundle.js'
import { freePort } from '../../support/servers/ports.js'
import { until } from '../../support/servers/wait.js'
import { codeUnder, writeCode } from '../recipes/recipe.js'

/** A server of the docs whose counts go on in the next process. */
export interface RestartedServer {
  readonly port: number
  /** The file of its dump. */
  readonly file: string
  start(): Promise<void>
  /** Starts a process with an option of Node.js, which may stop it before it listens. */
  startWith(option: string): void
  /** Waits until the server listens. */
  isUp(): Promise<unknown>
  /** Starts a process that must exit before it listens. Resolves with what it printed. */
  startInVain(): Promise<string>
  /** Sends SIGTERM, and waits until the process has dumped its counts and exited. */
  stop(): Promise<void>
  /** Waits until the process has dumped its counts and exited. */
  stopped(): Promise<void>
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
  const env = { ...process.env, LIMITS_FILE: file }
  let child: ChildProcess | undefined
  let exited: Promise<unknown> | undefined
  const startWith = (...options: string[]) => {
    child = spawn(process.execPath, [...options, program.path], {
      env,
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    exited = once(child, 'exit')
  }
  const isUp = () => until('the server listens', () => isListening(port))
  const stopped = async () => {
    expect(await exited).toEqual([0, null])
    expect(existsSync(file)).toBe(true)
  }
  return {
    port,
    file,
    async startInVain() {
      const failing = promisify(execFile)(process.execPath, [program.path], { env })
      return failing.then(
        () => Promise.reject(new Error('The server ended without an error.')),
        ({ stderr }: { stderr: string }) => stderr,
      )
    },
    async start() {
      startWith()
      await isUp()
      expect(existsSync(file)).toBe(false) // a dump is used once
    },
    startWith,
    isUp,
    async stop() {
      child?.kill('SIGTERM')
      await stopped()
    },
    stopped,
    async remove() {
      child?.kill('SIGKILL')
      for (const each of [file, `${file}.used`]) rmSync(each, { force: true })
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
