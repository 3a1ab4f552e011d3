import { asRequest } from './key.js'

/**
 * Returns the peer's address as the socket knows it; `undefined` on a Unix socket, and after the connection
 * has closed unless the address was read before: Node.js remembers it then. So it is read of each request
 * that has to wait, and may be aborted meanwhile.
 */
export function peerAddress(subject: unknown): string | undefined {
  const { socket } = asRequest(subject)
  const { remoteAddress } = (socket ?? {}) as { remoteAddress?: unknown }
  return typeof remoteAddress === 'string' && remoteAddress !== '' ? remoteAddress : undefined
}

/** Returns whether a request's connection is gone: its socket is destroyed, or its HTTP/2 stream is. */
export function isDisconnected(subject: unknown): boolean {
  const { socket, stream } = asRequest(subject) as { socket?: Destroyable; stream?: Destroyable }
  return stream?.destroyed === true || socket?.destroyed === true
}

type Destroyable = { readonly destroyed?: unknown } | null

const CODE = 'HEADGATE_DISCONNECTED'

/**
 * Thrown if the address of a request is needed, its connection is gone, and the address was not read before.
 * Such a request is denied and not charged: no client reads the response, and a bucket for all of them would
 * be a second quota.
 */
export class DisconnectedError extends Error {
  override readonly name = 'DisconnectedError'
  readonly code = CODE

  constructor() {
    super("headgate: the request's connection is closed, and its address is not known")
  }
}

/** Returns whether an error is a `DisconnectedError`, also one of another copy of this package. */
export function isDisconnectedError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && (error as { code?: unknown }).code === CODE
}
