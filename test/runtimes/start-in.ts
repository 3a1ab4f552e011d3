import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { ownEnvironment } from '../e2e/package/run.js'
import { type Place, type ServerProcess, startProcess } from '../support/servers/processes.js'
import { HOST } from '../support/servers/server.js'
import { bundleApp } from './bundle-app.js'
import { RUNTIMES, type Runtime, type RuntimeName, type StartOptions } from './runtimes.js'

/** An application that a runtime serves. */
export interface Running {
  /** Without a slash at its end. */
  readonly url: string
  /** The process of the runtime, which may be killed and restarted on its port. */
  readonly process: ServerProcess
  close(): Promise<void>
}

/**
 * Serves an application in a runtime, on loopback. It is a module with `export default { fetch }`; `fetch` gets the
 * request, and what the platform passes beside it.
 */
export async function startIn(name: RuntimeName, app: string, options: StartOptions = {}): Promise<Running> {
  const runtime: Runtime = RUNTIMES[name]
  const { host, command } = runtime
  let args: readonly string[] = []
  const started = await startProcess({
    name: name.replace(/\W+/g, '-'),
    program: 'env',
    env: ownEnvironment(),
    args: () => args,
    async prepare(place) {
      const outfile = join(place.folder, 'app.mjs')
      const entry = host === undefined ? app : join(__dirname, 'hosts', host)
      const { store, packages, env = {} } = options
      await bundleApp(outfile, { entry, app, store, packages, env }, runtime)
      args = await command(outfile, place, options)
    },
    ready: isListening,
    inMemory: options.durableObjects !== undefined,
  })
  return {
    url: `http://${HOST}:${started.port}`,
    process: started,
    close: () => started.stop(),
  }
}

/** Whether the runtime has said that it listens, and does: it may have been restarted since. */
async function isListening({ port, folder }: Place): Promise<boolean> {
  const printed = await readFile(join(folder, 'output.log'), 'utf8')
  return /^listening$|"event":"listen"/m.test(printed) && (await accepts(port))
}

export function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: HOST }, () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
