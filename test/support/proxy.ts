import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { type Pace, type Stream, stream } from './proxy-stream.js'
import { freePort } from './servers/ports.js'

const HOST = '127.0.0.1'

/** What becomes of bytes that come to a proxy from now on. Nothing set: they pass. */
export interface Behaviour {
  /** How long requests are on their way to the server, in their order. */
  readonly requestDelayMs?: number
  /** How long replies are on their way back. */
  readonly replyDelayMs?: number
  /** Replies arrive one byte at a time, each so much later than the one before. */
  readonly msPerByte?: number
  /** Which way bytes are swallowed. The connections stay open. */
  readonly swallow?: 'requests' | 'replies' | 'both'
  /** Forwards this many bytes of the next reply, then closes the connection with FIN. */
  readonly cutReplyAt?: number
  /** Called for each request: forwards it, or resets the connection, or closes it with FIN. */
  readonly onRequest?: (bytes: Buffer) => 'pass' | 'reset' | 'close'
}

/** Forwards connections to a real server, on a port of its own. */
export interface FaultyProxy {
  readonly host: string
  readonly port: number
  /** `host:port`. */
  readonly url: string
  /** How many connections are open. */
  readonly connections: number
  /** Changes what becomes of bytes on all connections, and of what is on its way. */
  behave(behaviour: Behaviour): void
  /** Closes all connections: at once, by a reset, or in good order. */
  cut(how?: 'reset' | 'end'): void
  /**
   * Ends one half of all connections: no more replies come to the clients, or no more requests to the
   * server.
   */
  halfClose(whose: 'replies' | 'requests'): void
  /** Refuses connections until it accepts them again on the same port. Existing ones stay open. */
  refuse(): Promise<void>
  accept(): Promise<void>
  /** All passes again, and connections are accepted. */
  heal(): Promise<void>
  stop(): Promise<void>
}

/** A connection of a client, and the one to the server that belongs to it. */
interface Pair {
  readonly client: Socket
  readonly server: Socket
  readonly requests: Stream
  readonly replies: Stream
}

export async function startProxy(target: {
  readonly host: string
  readonly port: number
}): Promise<FaultyProxy> {
  const port = await freePort()
  const pairs = new Set<Pair>()
  let behaviour: Behaviour = {}
  let listener: Server | undefined

  function join(client: Socket): void {
    const server = connect({ host: target.host, port: target.port, allowHalfOpen: true, noDelay: true })
    const requests = stream(server, (): Pace => ({ delayMs: behaviour.requestDelayMs }))
    const replies = stream(client, () => ({
      delayMs: behaviour.replyDelayMs,
      msPerByte: behaviour.msPerByte,
    }))
    const pair = { client, server, requests, replies }
    pairs.add(pair)
    client.on('data', (bytes) => request(pair, bytes)).on('end', () => requests.push(undefined))
    server.on('data', (bytes) => reply(pair, bytes)).on('end', () => replies.push(undefined))
    for (const socket of [client, server]) socket.on('error', () => part(pair, 'reset'))
    client.on('close', () => part(pair, 'end'))
    server.on('close', () => client.destroyed || replies.push(undefined))
  }

  function request(pair: Pair, bytes: Buffer): void {
    const { swallow, onRequest } = behaviour
    const verdict = onRequest?.(bytes) ?? 'pass'
    if (verdict !== 'pass') part(pair, verdict === 'reset' ? 'reset' : 'end')
    else if (swallow !== 'requests' && swallow !== 'both') pair.requests.push(bytes)
  }

  function reply({ client, server, replies }: Pair, bytes: Buffer): void {
    const { swallow, cutReplyAt } = behaviour
    if (swallow === 'replies' || swallow === 'both' || client.writableEnded) return
    replies.push(bytes.subarray(0, cutReplyAt))
    if (cutReplyAt === undefined) return
    replies.push(undefined)
    server.removeAllListeners('data').resume()
  }

  function part(pair: Pair, how: 'reset' | 'end'): void {
    if (!pairs.delete(pair)) return
    pair.requests.stop()
    pair.replies.stop()
    pair.server.destroy()
    if (how === 'end') endSoon(pair.client)
    else if (pair.client.writableEnded)
      pair.client.destroy() // a reset would leave it open for good (Node.js 20)
    else pair.client.resetAndDestroy()
  }

  async function accept(): Promise<void> {
    if (listener !== undefined) return
    listener = createServer({ allowHalfOpen: true, noDelay: true }, join)
    await once(listener.listen(port, HOST), 'listening')
  }

  async function refuse(): Promise<void> {
    listener?.close()
    listener = undefined
  }

  function behave(next: Behaviour): void {
    behaviour = next
    for (const { requests, replies } of pairs) {
      requests.hurry()
      replies.hurry()
    }
  }

  await accept()
  return {
    host: HOST,
    port,
    url: `${HOST}:${port}`,
    get connections() {
      return pairs.size
    },
    behave,
    cut(how = 'reset') {
      for (const pair of pairs) part(pair, how)
    },
    halfClose(whose) {
      for (const { client, server } of pairs) (whose === 'replies' ? client : server).end()
    },
    refuse,
    accept,
    async heal() {
      behave({})
      await accept()
    },
    async stop() {
      await refuse()
      for (const pair of pairs) part(pair, 'reset')
    },
  }
}

/** Ends a connection in good order: what the other side still sends is read, for a moment. */
function endSoon(socket: Socket): void {
  if (socket.destroyed) return
  socket.removeAllListeners('data').resume()
  socket.end()
  const timer = setTimeout(() => socket.destroy(), 1000)
  socket.once('close', () => clearTimeout(timer))
}
