import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { RedisClient } from '../../../src/stores/redis/ioredis/client.js'
import { findOrInstall } from '../servers/install.js'

/**
 * Runs the scripts of the Redis store in Lua 5.4, as Dragonfly does. Keys that a script does not declare
 * fail.
 */
export interface LuaServer {
  /** What the store takes in place of a client of ioredis. */
  readonly client: RedisClient
  /** The server's time in microseconds, a whole number. It stands still unless it is set. */
  nowUs: number
  /** Returns the bytes of a key; `undefined` for a missing one. */
  read(key: string): Promise<Buffer | undefined>
  /** Returns when a key expires (ms): `Infinity` for never, 0 for a missing key. */
  expiryOf(key: string): Promise<number>
  stop(): Promise<void>
}

const encode = (text: string) => `$${Buffer.from(text).toString('hex')}`

export async function startLuaServer(): Promise<LuaServer> {
  const { request, stop } = await startLua()
  const known = new Set<string>()

  function load(script: string): Promise<unknown> {
    const sha1 = createHash('sha1').update(script).digest('hex')
    known.add(sha1)
    return request('script', sha1, encode(script))
  }

  async function run(command: string, script: string, keyCount: string, words: readonly string[]) {
    const sha1 = command === 'evalsha' ? script : createHash('sha1').update(script).digest('hex')
    if (command === 'evalsha' && !known.has(sha1)) throw new Error('NOSCRIPT No matching script.')
    known.add(sha1)
    const isLoaded = command === 'evalsha' || request('script', sha1, encode(script))
    const replied = request('run', server.nowUs, sha1, keyCount, ...words.map(encode)) // at once: commands keep their order
    await isLoaded
    return replied
  }

  const call = (command: string, ...args: readonly string[]) =>
    request('call', server.nowUs, command, ...args.map(encode))

  const server: LuaServer = {
    nowUs: 0,
    client: {
      status: 'ready',
      options: { autoResendUnfulfilledCommands: false },
      callBuffer(command, ...args) {
        if (command === 'unlink') return call('DEL', ...args)
        if (command === 'script') return load(args[1] ?? '')
        const [script = '', keyCount = '', ...words] = args
        return run(command, script, keyCount, words)
      },
      pipeline() {
        const replies: Promise<[Error | null, unknown]>[] = []
        return {
          callBuffer(...words) {
            const replied = server.client.callBuffer(...words)
            replies.push(
              replied.then(
                (reply) => [null, reply],
                (error: Error) => [error, undefined],
              ),
            )
          },
          exec: () => Promise.all(replies),
        }
      },
      on: () => undefined,
    },
    async read(key) {
      const [bytes] = (await call('MGET', key)) as [Buffer | null]
      return bytes ?? undefined
    },
    async expiryOf(key) {
      const expiresAtMs = Number(await call('PEXPIRETIME', key))
      if (expiresAtMs === -2) return 0
      return expiresAtMs === -1 ? Number.POSITIVE_INFINITY : expiresAtMs
    },
    stop,
  }
  return server
}

/** Starts the program. Requests are answered in order. */
async function startLua() {
  const program = await findOrInstall({ program: 'lua5.4', debianPackage: 'lua5.4' })
  const child = spawn(program, [join(__dirname, 'server.lua')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const waiting: ((line: string) => void)[] = []
  createInterface({ input: child.stdout }).on('line', (line) => waiting.shift()?.(line))

  return {
    async request(...words: readonly (string | number)[]): Promise<unknown> {
      const replied = new Promise<string>((resolve) => waiting.push(resolve))
      child.stdin.write(`${words.join(' ')}\n`)
      const [kind, ...values] = (await replied).split(' ')
      if (kind === 'error') throw new Error(String(decodeWord(values.join(''))))
      const decoded = values.map(decodeWord)
      return kind === 'list' ? decoded : decoded[0]
    },
    async stop(): Promise<void> {
      child.stdin.end()
      await once(child, 'close')
    },
  }
}

function decodeWord(word: string): Buffer | number | null {
  if (word === '-') return null // as clients of Redis return a nil
  return word.startsWith('$') ? Buffer.from(word.slice(1), 'hex') : Number(word)
}
