import type { ServerResponse } from 'node:http'
import type { RateLimitGuard } from 'headgate/nest'
import { requestAndResponse } from '../../../support/request-response.js'

/** Classes whose handlers are limited. */
export class Shop {
  list(): void {}
  buy(): void {}
  ping(): void {}
}
export class Other {
  list(): void {}
}

/** What guards and filters are called with, for a handler of `Shop`. */
export function contextOf(
  type: string,
  args: readonly unknown[],
  handler: object = Shop.prototype.list,
  of = Shop,
) {
  return {
    getType: <T extends string>() => type as T,
    getArgs: <T extends unknown[]>() => args as T,
    getClass: () => of,
    getHandler: () => handler,
  } as never
}

/** A response of Fastify, which keeps what is sent through it. */
export class FakeReply {
  readonly raw: ServerResponse
  readonly headers: Record<string, unknown> = {}
  sent: unknown[] = []

  constructor(raw: ServerResponse) {
    this.raw = raw
  }
  getHeaders(): object {
    return this.headers
  }
  getHeader(name: string): unknown {
    return this.headers[name]
  }
  header(name: string, value: string): this {
    this.headers[name] = value
    return this
  }
  removeHeader(name: string): void {
    delete this.headers[name]
  }
  code(status: number): this {
    this.sent.push(status)
    return this
  }
  serializer(serialize: (body: string) => string): this {
    this.sent.push(serialize('{}'))
    return this
  }
  send(body: string): void {
    this.sent.push(body)
  }
}

/** Calls a guard for a request. Returns the exception of a denied one. */
export async function guarded(
  guard: RateLimitGuard,
  ...args: Parameters<typeof contextOf>
): Promise<unknown> {
  try {
    expect(await guard.canActivate(contextOf(...args))).toBe(true)
    return undefined
  } catch (error) {
    return error
  }
}

export const WEB = ['Express', 'Fastify'] as const

/** Creates a request with a response of a platform; both have the headers of the response. */
export function request(platform: (typeof WEB)[number]) {
  const { req, res } = requestAndResponse()
  const reply = new FakeReply(res)
  if (platform === 'Express') return { req, res, reply, headersOf: () => res.getHeaders() as object }
  const lower = () =>
    Object.fromEntries(Object.entries(reply.headers).map(([name, value]) => [name.toLowerCase(), value]))
  return { req, res: reply, reply, headersOf: lower }
}
