import { type EventEmitter, once } from 'node:events'
import type { IncomingMessage, RequestListener } from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import net, { type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type Certificate, makeCertificate } from './certificate.js'
import { type Answer, closeWithServers, type Sent, send, serve } from './http.js'

/** A server that runs, and a client that speaks its protocol. */
export interface Endpoint {
  readonly server: EventEmitter
  send(sent?: Sent): Promise<Answer>
  /** Sends a request without a body and reads no answer. Returns a function that hangs up. */
  start(sent?: Sent): () => void
}

/** A way to serve requests. */
export interface Protocol {
  readonly name: string
  serve(listener: RequestListener): Promise<Endpoint>
}

export const HTTP1: Protocol = {
  name: 'HTTP/1.1',
  async serve(listener) {
    const served = await serve(listener)
    return {
      server: served.server,
      send: (sent) => send(served, sent),
      start({ method = 'GET', path = '/', headers = {} } = {}) {
        const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
        const socket = net.connect(served.port, '127.0.0.1')
        socket.on('error', () => undefined)
        socket.write(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${lines.join('')}\r\n`)
        return () => socket.resetAndDestroy()
      },
    }
  },
}

export const HTTP2: Protocol = {
  name: 'HTTP/2',
  async serve(listener) {
    const { server, port } = await serveSecurely(listener)
    function request({ method = 'GET', path = '/', headers = {} }: Sent) {
      const session = http2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
      session.on('error', () => undefined)
      closeWithServers(async () => session.destroy())
      const pseudo = { ':method': method, ':path': path, ':authority': 'localhost' }
      return { session, stream: session.request({ ...pseudo, ...headers }, { endStream: false }) }
    }
    return {
      server,
      async send(sent = {}) {
        const { session, stream } = request(sent)
        stream.end(sent.body)
        try {
          const [{ ':status': status = 0, ...headers }] = await once(stream, 'response')
          return { status, headers, text: await text(stream) }
        } finally {
          session.destroy()
        }
      },
      start(sent = {}) {
        const { session, stream } = request(sent)
        stream.on('error', () => undefined).end()
        return () => {
          stream.close(http2.constants.NGHTTP2_CANCEL)
          stream.once('close', () => session.close())
        }
      },
    }
  },
}

/** What a client gets that knows no HTTP/2, from a server that knows both. */
const HTTP1_BESIDE_HTTP2: Protocol = {
  name: 'HTTP/1.1 on a server with allowHTTP1',
  async serve(listener) {
    const { server, port } = await serveSecurely(listener)
    function request({ method = 'GET', path = '/', headers = {}, body }: Sent) {
      const to = { host: '127.0.0.1', port, method, path, headers, rejectUnauthorized: false, agent: false }
      return https
        .request(to)
        .on('error', () => undefined)
        .end(body)
    }
    return {
      server,
      async send(sent = {}) {
        const [res] = (await once(request(sent), 'response')) as [IncomingMessage]
        return { status: res.statusCode ?? 0, headers: res.headers, text: await text(res) }
      },
      start(sent = {}) {
        const req = request(sent)
        return () => req.destroy()
      },
    }
  },
}

export const PROTOCOLS: readonly Protocol[] = [HTTP1, HTTP2, HTTP1_BESIDE_HTTP2]

let certificate: Promise<Certificate> | undefined

async function serveSecurely(listener: RequestListener) {
  certificate ??= makeCertificate()
  const server = http2.createSecureServer({ ...(await certificate), allowHTTP1: true })
  server.on('request', listener as never) // the compatibility API: close to node:http's, and of other types
  closeWithServers(async () => {
    server.close()
    await once(server, 'close')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}
