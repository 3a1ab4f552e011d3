import type { RequestLike } from '../../../src/keys/request.js'

/** A request as `node:http` makes it, as far as keys read it. */
export function requestFrom(remoteAddress: string | undefined, headers: object = {}): RequestLike {
  return { method: 'GET', headers, socket: { remoteAddress } }
}

/** A request that Express has seen, with its `trust proxy` setting. */
export function expressRequest(trust: unknown, ip: unknown, headers: object = {}): RequestLike {
  const app = Object.assign(() => undefined, {
    get: (name: string) => (name === 'trust proxy' ? trust : undefined),
  })
  return { ...requestFrom('10.0.0.1', headers), ip, app }
}
