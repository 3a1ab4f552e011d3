import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { findOrInstall } from './install.js'
import { type Place, type Recipe, startProcess } from './processes.js'
import { HOST, ownServer, type Server } from './server.js'

const run = promisify(execFile)

/** A Redis server, or a Sentinel, that listens on loopback only. A restart loses its data and scripts. */
export interface RedisServer extends Server {
  /**
   * Runs a command with redis-cli and returns the reply's text, one line per element; an error reply
   * rejects.
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
  const program = other ?? (await findRedis('redis-server'))
  const ready = async ({ port }: Place, pid: number) =>
    (await redisCli(urlOf(port), ['INFO', 'server'])).split('\r\n').includes(`process_id:${pid}`)
  const server = await startProcess({ ...recipe, program, ready })
  return withCli(ownServer(server, urlOf(server.port)))
}

export function withCli(server: Server): RedisServer {
  const cli: RedisServer['cli'] = (...args) => redisCli(server.url, args)
  return Object.assign(server, { cli })
}

const urlOf = (port: number) => `redis://${HOST}:${port}`

/** The path of one of Redis' programs. Debian's redis-server brings redis-cli with it. */
export function findRedis(program: 'redis-server' | 'redis-cli'): Promise<string> {
  return findOrInstall({ program, debianPackage: 'redis-server' })
}

/** Runs redis-cli, against the server that `url` names where one is given. An error reply rejects. */
export async function redisCli(
  url: string | undefined,
  args: readonly (string | number)[],
  timeoutMs = 10_000,
): Promise<string> {
  const all = [...(url === undefined ? [] : ['--no-auth-warning', '-u', url, '-e']), ...args.map(String)]
  const limits = { timeout: timeoutMs, maxBuffer: 2 ** 26 }
  const { stdout } = await run(await findRedis('redis-cli'), all, limits)
  return stdout.replace(/\n$/, '')
}
