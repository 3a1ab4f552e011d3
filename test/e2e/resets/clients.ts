import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import net from 'node:net'
import tls from 'node:tls'

/** A client of a protocol, over a connection that was made for it. */
export interface Client {
  /** Sends a request and resets the connection. Resolves once both are sent. */
  reset(connection: net.Socket, method: string): Promise<void>
  /** Sends a request, and resolves to the status of its response. */
  send(connection: net.Socket, method: string): Promise<number>
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

async function resetAfter(connection: net.Socket, socket: net.Socket, method: string): Promise<void> {
  socket.write(`${method} / HTTP/1.1\r\nHost: localhost\r\nX-Client-IP: 192.0.2.1\r\n\r\n`)
  await nextTurn()
  connection.resetAndDestroy()
}

async function statusOf(req: http.ClientRequest): Promise<number> {
  const [res] = (await once(req.end(), 'response')) as [http.IncomingMessage]
  await res.resume().toArray()
  return res.statusCode ?? 0
}

const options = (connection: net.Socket, method: string) => ({
  createConnection: () => connection,
  method,
  host: 'localhost',
  headers: { Connection: 'close' },
})

const HTTP1: Client = {
  reset: (connection, method) => resetAfter(connection, connection, method),
  send: (connection, method) => statusOf(http.request(options(connection, method))),
}

async function encrypt(connection: net.Socket): Promise<tls.TLSSocket> {
  const socket = tls.connect({ socket: connection, rejectUnauthorized: false })
  socket.on('error', () => undefined)
  await once(socket, 'secureConnect')
  return socket
}

const TLS: Client = {
  reset: async (connection, method) => resetAfter(connection, await encrypt(connection), method),
  async send(connection, method) {
    const socket = await encrypt(connection)
    return statusOf(https.request({ ...options(socket, method), createConnection: () => socket }))
  },
}

async function openSession(connection: net.Socket): Promise<http2.ClientHttp2Session> {
  const session = http2.connect('http://localhost', { createConnection: () => connection })
  session.on('error', () => undefined)
  await once(session, 'remoteSettings')
  return session
}

const HTTP2: Client = {
  async reset(connection, method) {
    const session = await openSession(connection)
    session
      .request({ ':method': method })
      .on('error', () => undefined)
      .end()
    await nextTurn()
    connection.resetAndDestroy()
  },
  async send(connection, method) {
    const session = await openSession(connection)
    const stream = session.request({ ':method': method }).end()
    const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders & { ':status'?: number }]
    session.destroy()
    return headers[':status'] ?? 0
  },
}

/** Returns the client for a server, by its name. */
export function clientOf(name: string): Client {
  if (name.endsWith('TLS')) return TLS
  return name.endsWith('HTTP/2') ? HTTP2 : HTTP1
}

/** Connects to a port or a Unix socket. */
export async function connect(to: net.NetConnectOpts): Promise<net.Socket> {
  const connection = net.connect(to)
  connection.on('error', () => undefined)
  await once(connection, 'connect')
  return connection
}
