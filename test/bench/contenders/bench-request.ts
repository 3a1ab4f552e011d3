import { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How many clients take turns. */
export const CLIENTS = 1_000

const addresses = Array.from({ length: CLIENTS }, (_, i) => `203.0.${i >> 8}.${i & 255}`)

/** The part of an Express application that middleware reads. */
const app = Object.assign(() => {}, { get: (): unknown => 1 }) // 'trust proxy': one proxy

/**
 * A request as Express hands it on, without a connection. What Express would compute (`ip`) is there
 * already: the cheapest case for everybody.
 */
export class BenchRequest extends IncomingMessage {
  readonly app = app
  readonly ip: string

  constructor(client: number) {
    const remoteAddress = addresses[client] as string
    super({ remoteAddress, once() {} } as unknown as Socket)
    this.ip = remoteAddress
    this.method = 'GET'
    this.url = '/'
    this.headers = { host: 'localhost', accept: '*/*' }
  }
}

/**
 * A response with the three methods of Express that express-rate-limit calls, in the least that they can
 * be.
 */
export class BenchResponse extends ServerResponse {
  status(code: number): this {
    this.statusCode = code
    return this
  }

  append(name: string, value: string): this {
    return this.setHeader(name, value)
  }

  send(text: string): this {
    this.setHeader('Content-Type', 'text/html; charset=utf-8')
    return this.end(text)
  }
}

export type Middleware = (req: BenchRequest, res: BenchResponse, next: () => void) => unknown
