import type { ServerResponse } from 'node:http'

type Send = (this: ServerResponse, ...args: unknown[]) => unknown

/** Calls `see` with each piece of the body that is passed to `write` or `end`, before it is sent. */
export function seeBody(res: ServerResponse, see: (piece: unknown) => void): void {
  for (const name of ['write', 'end'] as const) {
    const send = res[name] as Send
    const sendSeen: Send = function (...args) {
      see(args[0])
      return send.apply(this, args)
    }
    Object.assign(res, { [name]: sendSeen })
  }
}
