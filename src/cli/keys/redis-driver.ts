import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AnyRedisClient } from '../../stores/redis/client.js'
import type { RedisClient } from '../../stores/redis/ioredis/client.js'
import type { NodeRedisClient } from '../../stores/redis/node-redis/client.js'
import { messageOf } from '../../stores/store-error.js'
import { InputError } from '../failures.js'

/** A client of one server, of any package, that connects once and never again. */
export interface RedisDriver {
  /** What `redisStore` takes. */
  readonly client: AnyRedisClient
  connect(): Promise<unknown>
  /** Sends a command. Strings of the reply are text. */
  send(words: readonly string[]): Promise<unknown>
  close(): void
}

/** Creates a client. `onError` gets what the client reports while it connects. */
type CreateDriver = (url: string, onError: (error: Error) => void) => RedisDriver

interface Ioredis extends RedisClient {
  on(event: 'ready' | 'close', listener: () => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  connect(): Promise<void>
  call(...words: readonly string[]): Promise<unknown>
  disconnect(): void
}

interface NodeRedis extends NodeRedisClient {
  on(event: string | symbol, listener: () => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  connect(): Promise<unknown>
  sendCommand(words: readonly string[]): Promise<unknown>
  destroy(): void
}

/** What the packages export, in the versions that headgate supports. */
interface Exports {
  readonly Redis?: new (url: string, options: object) => Ioredis
  readonly createClient?: (options: object) => NodeRedis
  /** Of node-redis 5 and newer. */
  readonly createSentinel?: unknown
}

const CONNECT_TIMEOUT_MS = 5000

/** In the order in which they are looked for. */
const PACKAGES: Readonly<Record<string, (exports: Exports) => CreateDriver | undefined>> = {
  ioredis: ioredisDriver,
  redis: nodeRedisDriver,
  iovalkey: ioredisDriver,
}

/**
 * Loads the client of Redis that is installed where the command runs. Rejects with an `InputError` where
 * there is none.
 */
export async function loadDriver(folder: string): Promise<CreateDriver> {
  const { resolve } = createRequire(join(folder, 'package.json'))
  for (const [name, read] of Object.entries(PACKAGES)) {
    const path = resolvePackage(resolve, name)
    if (path === undefined) continue
    const create = read(await load(name, path))
    if (create !== undefined) return create
    throw new InputError(`the installed version of ${name} is too old: run npm install ${name}@latest`)
  }
  throw new InputError('no Redis client is installed in this directory: run npm install ioredis')
}

function resolvePackage(resolve: NodeJS.RequireResolve, name: string): string | undefined {
  try {
    return resolve(name)
  } catch {
    return undefined // not installed, or not usable
  }
}

async function load(name: string, path: string): Promise<Exports> {
  try {
    const loaded: Exports & { readonly default?: Exports } = await import(pathToFileURL(path).href)
    return loaded.default ?? loaded
  } catch (error) {
    throw new InputError(`cannot load ${name}: ${messageOf(error)}`)
  }
}

function ioredisDriver({ Redis }: Exports): CreateDriver | undefined {
  if (Redis === undefined) return undefined
  return (url, onError) => {
    const client = new Redis(url, {
      lazyConnect: true,
      connectTimeout: CONNECT_TIMEOUT_MS,
      retryStrategy: () => null,
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
    })
    client.on('error', onError)
    return {
      client,
      connect: () => client.connect(),
      send: (words) => client.call(...words),
      close: () => client.disconnect(),
    }
  }
}

function nodeRedisDriver({ createClient, createSentinel }: Exports): CreateDriver | undefined {
  if (createClient === undefined || createSentinel === undefined) return undefined
  return (url, onError) => {
    const socket = { reconnectStrategy: false, connectTimeout: CONNECT_TIMEOUT_MS }
    const client = createClient({ url, socket })
    client.on('error', onError)
    return {
      client,
      connect: () => client.connect(),
      send: (words) => client.sendCommand([...words]),
      close: () => {
        if (client.isOpen) client.destroy()
      },
    }
  }
}
