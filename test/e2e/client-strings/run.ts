import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import http, { type IncomingMessage, type RequestListener } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import express from 'express'
import fc from 'fast-check'
import { byHeader } from 'headgate'
import { rateLimit as dropIn } from 'headgate/express-rate-limit'
import { ADAPTERS, type Serve } from '../resets/servers.js'
import { hostile } from './hostile.js'

const LIMIT = 2
const DROP_IN = 'the drop-in'

/** What the key function returns for the request in progress, as a handler would read it. */
const chosen = new AsyncLocalStorage<{ readonly value: unknown }>()

/** A part of a request that carries a client's text, as bytes before and after the empty line. */
interface Place {
  readonly path?: (value: string) => string
  readonly header?: (value: string) => string
  readonly body?: (value: string) => string
  /** Returns what an application reads there. */
  read(req: IncomingMessage): Promise<unknown> | unknown
  readonly key?: unknown
}

const percent = (value: string) => Buffer.from(value).toString('hex').replace(/../g, '%$&')

function decoded(value: string): unknown {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

const inHeader = {
  header: (value: string) => `X-Key: ${value}`,
  read: (req: IncomingMessage) => req.headers['x-key'],
}

const PLACES: Readonly<Record<string, Place>> = {
  query: {
    path: (value) => `/?key=${percent(value)}`,
    read: ({ url }) => new URL(url ?? '', 'http://localhost').searchParams.get('key'),
  },
  header: inHeader,
  byHeader: { ...inHeader, key: byHeader('x-key') },
  cookie: {
    header: (value) => `Cookie: key=${percent(value)}`,
    read: ({ headers }) => decoded(String(headers.cookie).slice('key='.length)),
  },
  body: {
    body: (value) => JSON.stringify(value),
    read: async (req) => JSON.parse(await text(req)) as unknown,
  },
  'a property named by the body': {
    body: (value) => JSON.stringify({ [value]: value }),
    read: async (req) => ({ ...(JSON.parse(await text(req)) as object) }),
  },
}

/** Sends bytes as they are, and resolves with the status of the response; 0 if there is none. */
async function sendBytes(port: number, { path, header, body }: Place, value: string): Promise<number> {
  const content = body?.(value) ?? ''
  const head = [
    `GET ${path?.(value) ?? '/'} HTTP/1.1`,
    'Host: localhost',
    'Connection: close',
    ...(header === undefined ? [] : [header(value)]),
    ...(body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(content)}`]),
  ]
  const socket = net.connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), Buffer.from(content)]))
  const response = await text(socket).catch(() => '')
  return Number(/^HTTP\/1\.1 (\d+)/.exec(response)?.[1] ?? 0)
}

/** Returns the quota that keys.md gives a value: its own, or that of the address. */
function quotaOf(value: unknown): string {
  const isText = typeof value === 'string' && value !== '' && value.length <= 1024
  return isText && !value.includes('\0') && value.isWellFormed() ? `text ${value}` : 'address'
}

const values = fc.sample(hostile, { numRuns: 25, seed: Number(process.argv[2]) })

/** Returns what is wrong with the responses of an adapter to these values; '' if nothing is. */
async function problemOf(
  port: number,
  place: Place,
  read: () => unknown[],
  quotaIn: (value: unknown) => string,
): Promise<string> {
  const used = new Map<string, number>()
  for (const value of values) {
    const before = read().length
    const status = await sendBytes(port, place, value)
    const seen = read().slice(before)
    if (seen.length === 0) {
      // Node.js itself rejects some bytes in headers, and headers that are too long.
      if (status === 400 || status === 431) continue
      return `${JSON.stringify(value)} got ${status} without having been read`
    }
    const quota = quotaIn(seen[0])
    const count = (used.get(quota) ?? 0) + 1
    used.set(quota, count)
    const expected = count > LIMIT ? 429 : 200
    if (status !== expected) return `${JSON.stringify(value)} got ${status} for ${quota} at count ${count}`
  }
  return ''
}

/** The drop-in for express-rate-limit, for which each string is a key. */
const onDropIn = ({ key }: { readonly key?: unknown }) =>
  http.createServer(
    express().use(
      dropIn({ limit: LIMIT, windowMs: 3_600_000, validate: false, keyGenerator: key as never }),
      (_req, res) => void res.send('hello'),
    ),
  )

const SERVERS: Readonly<Record<string, Serve>> = { ...ADAPTERS, [DROP_IN]: onDropIn as Serve }

const problems: string[] = []
let sent = 0

for (const [name, serve] of Object.entries(SERVERS)) {
  if (/TLS|HTTP\/2/.test(name)) continue // other bytes on the wire, and the same code behind them
  for (const [where, place] of Object.entries(PLACES)) {
    if (name === DROP_IN && !['query', 'body'].includes(where)) continue
    const quotaIn = name === DROP_IN ? String : quotaOf
    const seen: unknown[] = []
    const key = place.key ?? (() => chosen.getStore()?.value)
    const server = await serve({ limit: LIMIT, window: '1h', key } as never, () => undefined)
    const [listener] = server.listeners('request') as RequestListener[]
    server.removeAllListeners('request')
    server.on('request', async (req: IncomingMessage, res) => {
      const value = await place.read(req)
      seen.push(value)
      chosen.run({ value }, () => listener?.(req, res))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const problem = await problemOf(port, place, () => seen, quotaIn)
    if (problem !== '') problems.push(`${name}, ${where}: ${problem}`)
    sent += seen.length
    server.close()
  }
}
process.stdout.write(JSON.stringify({ problems, sent }), () => process.exit())
