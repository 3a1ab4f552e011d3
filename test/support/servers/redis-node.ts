import { findOrInstall } from './install.js'
import { type Place, type Recipe, startProcess } from './processes.js'
import { redisText } from './redis-command.js'
import { HOST, ownServer, type Server } from './server.js'

/** A Redis server, or a Sentinel, that listens on loopback only. A restart loses its data and scripts. */
export interface RedisServer extends Server {
  /**
   * Runs a command and returns the reply as text, one line per element, as redis-cli shows it to other
   * programs. An error reply rejects.
   */
  cli(...args: readonly (string | number)[]): Promise<string>
}

/**
 * Redis keeps nothing on disk here, and a replica gets its first copy without the usual wait of 5 seconds.
 */
const OPTIONS = '--daemonize no --appendonly no --repl-diskless-sync yes --repl-diskless-sync-delay 0'.split(
  ' ',
)

/** Starts redis-server, or another server with its options, with the options that `args` adds. */
export function startRedisNode(
  name: string,
  args: (place: Place) => readonly string[],
  portOffsets: readonly number[] = [],
  program?: string,
): Promise<RedisServer> {
  const all = (place: Place) => [...listen(place), ...OPTIONS, '--save', '', ...args(place)]
  return start({ name, args: all, portOffsets }, program)
}

/** Starts redis-server as a Sentinel, with the file that `configure` writes into its folder. */
export function startSentinelNode(
  name: string,
  configure: (place: Place) => Promise<string>,
): Promise<RedisServer> {
  let file = ''
  const prepare = async (place: Place) => {
    file = await configure(place)
  }
  return start({ name, args: (place) => [file, '--sentinel', ...listen(place)], prepare })
}

function listen({ port, folder }: Place): string[] {
  return ['--bind', HOST, '--port', String(port), '--dir', folder]
}

async function start(recipe: Omit<Recipe, 'program' | 'ready'>, other?: string): Promise<RedisServer> {
  const program = other ?? (await findRedis())
  const ready = async ({ port }: Place, pid: number) =>
    (await redisText(urlOf(port), ['INFO', 'server'])).split('\r\n').includes(`process_id:${pid}`)
  const server = await startProcess({ ...recipe, program, ready })
  return withCli(ownServer(server, urlOf(server.port)))
}

export function withCli(server: Server): RedisServer {
  const cli: RedisServer['cli'] = (...args) => redisText(server.url, args)
  return Object.assign(server, { cli })
}

const urlOf = (port: number) => `redis://${HOST}:${port}`

/** The path of redis-server. */
export function findRedis(): Promise<string> {
  return findOrInstall({ program: 'redis-server', debianPackage: 'redis-server' })
}
