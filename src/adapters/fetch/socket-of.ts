import type { Socket } from 'node:net'
import { fieldsOf } from '../../util/values.js'

/** Returns the connection of a request. @hono/node-server keeps that of node:http under a symbol. */
export function socketOf(request: Request): Socket | undefined {
  for (const symbol of Object.getOwnPropertySymbols(request)) {
    const { socket } = fieldsOf(Reflect.get(request, symbol))
    if (isSocket(socket)) return socket
  }
  return undefined
}

function isSocket(value: unknown): value is Socket {
  const { destroyed, once } = fieldsOf(value)
  return typeof destroyed === 'boolean' && typeof once === 'function'
}
