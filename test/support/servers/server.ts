import type { ServerProcess } from './processes.js'

/** A real server that listens on loopback only, or one that an environment variable names. */
export interface Server {
  readonly host: string
  readonly port: number
  /** What a client takes to connect. */
  readonly url: string
  /** Its process; `undefined` while it does not run. */
  readonly pid: number | undefined
  /**
   * Sends a signal, by default SIGKILL. Resolves when the process has exited; for SIGSTOP and SIGCONT, at
   * once.
   */
  kill(signal?: NodeJS.Signals): Promise<void>
  /** Starts it again on the same port, ending it before where it still runs. */
  restart(): Promise<void>
  /** Ends it and removes what it wrote. May be called again. */
  stop(): Promise<void>
}

/** A place on a server that was there before: a database, or all of it. */
export interface GivenPlace {
  readonly url: string
  /** Removes what the tests wrote. */
  stop(): Promise<void>
}

/** Who named a server that was there before, and what to call for one that may be killed. */
export interface Giver {
  readonly variable: string
  readonly starter: string
  /** The port where the URL names none. */
  readonly defaultPort: number
}

export const HOST = '127.0.0.1'

/** A server that this process started. */
export function ownServer(server: ServerProcess, url: string): Server {
  return {
    host: HOST,
    port: server.port,
    url,
    get pid() {
      return server.pid
    },
    kill: (signal) => server.kill(signal),
    restart: () => server.restart(),
    stop: () => server.stop(),
  }
}

/** A server that was there before: it is neither killed nor restarted. */
export function givenServer(place: GivenPlace, { variable, starter, defaultPort }: Giver): Server {
  const { hostname, port } = new URL(place.url)
  const refuse = () =>
    Promise.reject(new Error(`${variable} names this server. Use ${starter}({ own: true }).`))
  let stopped: Promise<void> | undefined
  return {
    host: hostname,
    port: Number(port || defaultPort),
    url: place.url,
    pid: undefined,
    kill: refuse,
    restart: refuse,
    stop() {
      stopped ??= place.stop()
      return stopped
    },
  }
}
