import type { ServerResponse } from 'node:http'
import { isPlaceholder, noOutcome } from '../http/placeholder.js'
import { type LoginWriter, nodeWriter, type ResponseWriter } from '../http/response-writer.js'
import { fieldsOf, hasMethods } from '../util/values.js'

/** Also knows when a response begins. */
export interface OverloadWriter<Res> extends ResponseWriter<Res> {
  /** Returns the status of a response, as set so far. */
  statusOf(res: Res): number
  /** Calls `listener` when the first byte of a response is sent, or just before. */
  onFirstByte(req: object, res: Res, listener: () => void): void
  /** Calls `listener` once the client has left. May call it at once, and also at the end of other responses. */
  onceGone(req: object, res: Res, listener: () => void): unknown
}

/**
 * Writes the responses of node:http, and knows when they begin. Upgrades to a WebSocket have no response, but a
 * placeholder: they begin with the first bytes of their socket, and are over when it closes.
 */
export const nodeOverloadWriter: OverloadWriter<ServerResponse> = {
  ...nodeWriter,
  onFirstByte(req, res, listener) {
    if (isPlaceholder(res)) onMethods(socketOf(req), ['write', 'end'], listener)
    else onFirstByte(res, listener)
  },
  onceGone(req, res, listener) {
    if (isPlaceholder(res)) onceSocketClosed(socketOf(req), listener)
    else nodeWriter.onceAborted(res, listener)
  },
}

/** Returns the writer of a framework whose responses wrap those of node:http. */
export function overloadWriterOver<Res>(
  writer: LoginWriter<Res>,
  raw: (res: Res) => ServerResponse,
): OverloadWriter<Res> {
  return {
    ...writer,
    onFirstByte: (_req, res, listener) => onFirstByte(raw(res), listener),
    onceGone: (_req, res, listener) => writer.onceAborted(res, listener),
  }
}

/**
 * Calls `listener` when a response begins. `writeHead` does not begin it: Node.js keeps the headers until the
 * first piece of the body, for which the handler may still have to wait.
 */
export function onFirstByte(res: ServerResponse, listener: () => void): void {
  onMethods(res, ['write', 'end', 'flushHeaders'], listener)
}

type Method = (this: unknown, ...args: unknown[]) => unknown

/** Calls `listener` before the first call of any of these methods. */
function onMethods(object: object, methods: readonly string[], listener: () => void): void {
  const fields = object as Record<string, Method>
  let isDue = true
  for (const name of methods) {
    const method = fields[name] as Method
    fields[name] = function callListenerFirst(...args) {
      if (isDue) {
        isDue = false
        listener()
      }
      return method.apply(this, args)
    }
  }
}

interface Closing {
  readonly destroyed?: boolean
  once(event: 'close', listener: () => void): unknown
}

/** Returns the socket of a request. Throws a `TypeError` if nothing tells when the request is over. */
function socketOf(req: object): Closing {
  const { socket } = fieldsOf(req)
  if (hasMethods(socket, 'once', 'write', 'end')) return socket as Closing
  throw noOutcome('overloadGuard', 'a place needs')
}

function onceSocketClosed(socket: Closing, listener: () => void): void {
  if (socket.destroyed) listener()
  else socket.once('close', listener)
}
