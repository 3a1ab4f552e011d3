import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { Redis } from 'ioredis'
import { HOST } from './server.js'

/**
 * What goes wrong with a request.
 *
 * | fault | the commands run | the response |
 * |---|---|---|
 * | `refused` | no | the connection is cut |
 * | `lost` | yes | the connection is cut |
 * | `cut` | yes | ends in the middle of its body |
 * | `hangs` | yes | never comes |
 * | `unavailable` | no | 503 and JSON |
 * | `gateway` | yes | 502 and a page of HTML, as from a proxy |
 * | `page` | yes | 200 and a page of HTML |
 * | `quota` | no | 400 and the error of a database that has used up its plan |
 */
export type Fault = 'refused' | 'lost' | 'cut' | 'hangs' | 'unavailable' | 'gateway' | 'page' | 'quota'

/** A request that the server has received. */
export interface UpstashRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly commands: readonly (readonly string[])[]
}

/** Serves the REST interface of Upstash in front of a Redis server. */
export interface UpstashServer {
  readonly url: string
  readonly token: string
  /** All requests so far, in order. */
  readonly requests: UpstashRequest[]
  /** Returns what goes wrong with a request, if anything. */
  fault: (request: UpstashRequest) => Fault | undefined
  /** Before each response, in milliseconds. */
  delayMs: number
  /** Returns how many commands the server has run since the last call, with those that scripts have run. */
  commandCount(): Promise<number>
  stop(): Promise<void>
}

const PAGE = '<html><head><title>502 Bad Gateway</title></head></html>'
const QUOTA = 'ERR max requests limit exceeded. Limit: 500000, Usage: 500000.'

/**
 * Starts the REST interface of the Redis server at a URL. If Redis dies, the connections of the requests that wait
 * for it are cut. https://upstash.com/docs/redis/features/restapi
 */
export async function startUpstash(redisUrl: string): Promise<UpstashServer> {
  const redis = new Redis(redisUrl, { autoResendUnfulfilledCommands: false })
  redis.on('error', () => undefined) // while Redis is down, connecting fails
  const running = new Set<Socket>()
  redis.on('close', () => {
    for (const socket of running) socket.destroy() // ioredis settles none of the commands it had sent
    running.clear()
  })
  const http = createServer((request, response) => {
    serve(request, response).catch((cause) => sendJson(response, 500, { error: String(cause) }))
  })
  http.keepAliveTimeout = 0 // no connection closes while a request travels to it
  http.listen(0, HOST)
  await once(http, 'listening')
  const token = 'loopback-token'

  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of message) chunks.push(chunk)
    if (message.headers.authorization !== `Bearer ${token}`)
      return sendJson(response, 401, { error: 'WRONGPASS invalid or missing auth token' })
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString())
    const path = message.url ?? ''
    const isOne = path === '/'
    const commands = (isOne ? [body] : body) as readonly (readonly unknown[])[]
    const request = { path, headers: message.headers, commands: commands.map((words) => words.map(String)) }
    server.requests.push(request)
    const fault = server.fault(request)
    if (fault === 'refused') return void message.socket.destroy()
    if (fault === 'unavailable') return sendJson(response, 503, { error: 'Service Unavailable' })
    if (fault === 'quota') return sendJson(response, 400, { error: QUOTA })
    running.add(message.socket)
    const replies = await runInOrder(request.commands, path === '/multi-exec')
    running.delete(message.socket)
    if (server.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, server.delayMs))
    if (fault === 'hangs') return
    if (fault === 'lost') return void message.socket.destroy()
    if (fault === 'gateway' || fault === 'page') return sendPage(response, fault === 'page' ? 200 : 502)
    const isBase64 = message.headers['upstash-encoding'] === 'base64'
    const results = replies.map(({ error, reply }) =>
      error ? { error: error.message } : { result: encode(reply, isBase64) },
    )
    const [first] = results
    const status = isOne && first && 'error' in first ? 400 : 200
    const text = JSON.stringify(isOne ? first : results)
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    })
    if (fault === 'cut') return void response.write(text.slice(0, 5), () => message.socket.destroy())
    response.end(text)
  }

  /** Runs commands in order on one connection. */
  async function runInOrder(commands: UpstashRequest['commands'], isTransaction: boolean) {
    const pipeline = isTransaction ? redis.multi() : redis.pipeline()
    for (const words of commands) pipeline.callBuffer(...(forRedis(words) as [string, ...string[]]))
    const replies = (await pipeline.exec()) ?? []
    return replies.map(([error, reply]) => ({ error, reply }))
  }

  const server: UpstashServer = {
    url: `http://${HOST}:${(http.address() as AddressInfo).port}`,
    token,
    requests: [],
    fault: () => undefined,
    delayMs: 0,
    async commandCount() {
      const stats = await redis.info('commandstats')
      await redis.config('RESETSTAT')
      const ours = /^cmdstat_(info|config|ping|client|select|hello|auth)\b/
      const lines = stats.split('\r\n').filter((line) => line.startsWith('cmdstat_') && !ours.test(line))
      return lines.reduce((sum, line) => sum + Number(/calls=(\d+)/.exec(line)?.[1] ?? 0), 0)
    },
    async stop() {
      http.closeAllConnections()
      http.close()
      await once(http, 'close')
      redis.disconnect()
    },
  }
  return server
}

/** The flag that only Upstash knows. */
const KEY_LOCKING = '#!lua flags=allow-key-locking\n'
/** The digests in Redis of scripts with that flag. */
const digests = new Map<string, string>()

/** Returns a command as Redis takes it, with scripts without Upstash's flag. */
function forRedis(words: readonly string[]): readonly string[] {
  const [name = '', script = '', ...rest] = words
  if (/^evalsha$/i.test(name)) return [name, digests.get(script) ?? script, ...rest]
  if (!/^eval$/i.test(name) || !script.startsWith(KEY_LOCKING)) return words
  const plain = script.slice(KEY_LOCKING.length)
  digests.set(sha1(script), sha1(plain))
  return [name, plain, ...rest]
}

const sha1 = (text: string) => createHash('sha1').update(text).digest('hex')

/** Returns a reply as JSON holds it: text as UTF-8, or in base64 except for `OK`. */
function encode(reply: unknown, isBase64: boolean): unknown {
  if (Array.isArray(reply)) return reply.map((item) => encode(item, isBase64))
  if (!Buffer.isBuffer(reply)) return reply
  const text = reply.toString()
  return isBase64 && text !== 'OK' ? reply.toString('base64') : text
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function sendPage(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'text/html' }).end(PAGE)
}
