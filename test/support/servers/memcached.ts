import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { findOrInstall } from './install.js'
import { type Place, startProcess } from './processes.js'
import { givenServer, HOST, ownServer, type Server } from './server.js'
import { serviceUser } from './users.js'

const GIVER = { variable: 'MEMCACHED_URL', starter: 'startMemcached', defaultPort: 11_211 }
const COMMAND_TIMEOUT_MS = 10_000

export interface MemcachedOptions {
  /** More options of memcached, such as `['-m', '4']`. */
  readonly args?: readonly string[]
  /** Start one even where `MEMCACHED_URL` is set: for tests that kill it, restart it or flush it. */
  readonly own?: boolean
}

/** Its `url` is `host:port`, as memjs and memcached take it. A restart loses all that it held. */
export interface MemcachedServer extends Server {
  /**
   * Sends a command of the text protocol, such as `stats` or `set key 0 0 5\r\nvalue`, on a connection of
   * its own and returns the reply, which may have several lines. An error reply rejects.
   */
  command(command: string): Promise<string>
}

/**
 * Starts a memcached server that listens on TCP only. Where the environment variable `MEMCACHED_URL` names
 * one (`host:port`), that is used instead, unless the test needs options or a server of its own. memcached
 * has no databases: others may use the same server at the same time, and nothing is removed from it. So a
 * test that runs on a server that may be given must use keys of its own, and must not flush or count what
 * is there.
 */
export async function startMemcached({
  args = [],
  own = args.length > 0,
}: MemcachedOptions = {}): Promise<MemcachedServer> {
  const given = process.env.MEMCACHED_URL
  return given && !own ? useGiven(given) : startOwn(args)
}

async function startOwn(args: readonly string[]): Promise<MemcachedServer> {
  const program = await findOrInstall({
    program: 'memcached',
    debianPackage: 'memcached',
    instead: 'set MEMCACHED_URL',
  })
  const server = await startProcess({
    name: 'memcached',
    program,
    user: await serviceUser('memcache'),
    args: ({ port }) => ['-l', HOST, '-p', String(port), '-U', '0', ...args],
    ready: async ({ port }: Place, pid: number) =>
      (await ask(HOST, port, 'stats')).split('\r\n').includes(`STAT pid ${pid}`),
    endSignal: 'SIGKILL', // it keeps nothing, and takes a second to end in good order
  })
  return withCommand(ownServer(server, `${HOST}:${server.port}`))
}

/** A URL needs a scheme to be read, and memjs wants none. */
function useGiven(address: string): MemcachedServer {
  const url = `memcached://${address.replace(/^\w+:\/\//, '')}`
  const server = givenServer({ url, stop: async () => {} }, GIVER)
  return withCommand({ ...server, url: `${server.host}:${server.port}` })
}

function withCommand(server: Server): MemcachedServer {
  const command = (line: string) => ask(server.host, server.port, line)
  return Object.assign(server, { command })
}

/**
 * The server answers `quit`, the second command, by closing: so the reply to the first is all that was
 * read.
 */
async function ask(host: string, port: number, command: string): Promise<string> {
  const socket = connect({ host, port })
  socket.setTimeout(COMMAND_TIMEOUT_MS, () => socket.destroy(new Error(`No answer to: ${command}`)))
  await once(socket, 'connect')
  socket.write(`${command}\r\nquit\r\n`)
  const reply = (await text(socket)).replace(/\r\n$/, '')
  if (/^(CLIENT_|SERVER_)?ERROR\b/.test(reply)) throw new Error(reply)
  return reply
}
