import { once } from 'node:events'
import http, { type IncomingHttpHeaders, type OutgoingHttpHeaders, type RequestListener } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A server on a free port of this machine; it ends with the test. */
export interface Served {
  readonly port: number
  readonly server: http.Server
}

/** Where requests are sent. */
export interface Target {
  readonly port: number
  /** Default `127.0.0.1`. */
  readonly host?: string
}

const closing: (() => Promise<void>)[] = []

/** Has `closeServers` run this, too. */
export function closeWithServers(close: () => Promise<void>): void {
  closing.push(close)
}

/** Starts a server; for one test, or where called from `beforeAll` with `closeServers` in `afterAll`. */
export async function serve(listener: RequestListener): Promise<Served> {
  const server = http.createServer(listener)
  closeWithServers(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, server }
}

/**
 * Closes all servers with their connections, the last first: what was opened on a server is closed before
 * it.
 */
export async function closeServers(): Promise<void> {
  for (const close of closing.splice(0).reverse()) await close()
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

export interface Sent {
  readonly method?: string
  readonly path?: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string | Buffer
  /** The client's own address, any of 127.0.0.0/8. */
  readonly from?: string
}

/** Sends one request on a connection of its own, and reads the whole answer. */
export async function send({ port, host = '127.0.0.1' }: Target, sent: Sent = {}): Promise<Answer> {
  const { method = 'GET', path = '/', headers = {}, body, from } = sent
  const local = from === undefined ? {} : { localAddress: from }
  const req = http.request({ host, port, method, path, headers, agent: false, ...local })
  req.end(body)
  const [res] = (await once(req, 'response')) as [http.IncomingMessage]
  return { status: res.statusCode ?? 0, headers: res.headers, text: await text(res) }
}

/** The statuses of some requests, one after the other. */
export async function statuses(target: Target, requests: readonly Sent[]): Promise<number[]> {
  const seen: number[] = []
  for (const sent of requests) seen.push((await send(target, sent)).status)
  return seen
}

/** The same request several times. */
export function times(count: number, sent: Sent = {}): Sent[] {
  return Array.from({ length: count }, () => sent)
}

/** Writes bytes to a socket as they are, and reads until the server closes. */
export async function sendRaw({ port }: Served, bytes: string | Buffer): Promise<string> {
  const socket = net.connect(port, '127.0.0.1')
  socket.write(bytes)
  return text(socket)
}
