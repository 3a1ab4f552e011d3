import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Handler } from './frameworks.js'
import type { Sent } from './http.js'
import type { Endpoint } from './protocols.js'

/** Sends a request and hangs up once the server has it. Resolves when the server knows. */
export async function sendAndHangUp(
  endpoint: Endpoint,
  sent?: Sent,
): Promise<{ req: IncomingMessage; res: ServerResponse }> {
  const arrived = once(endpoint.server, 'request')
  const hangUp = endpoint.start(sent)
  const [req, res] = (await arrived) as [IncomingMessage, ServerResponse]
  const closed = once(res, 'close')
  hangUp()
  await closed
  return { req, res }
}

/** A handler that holds requests back. */
export interface Gate {
  readonly handler: Handler
  /** Forwards all held requests. Returns how many. */
  open(): number
}

/**
 * Creates a gate in front of other handlers, so that a client can hang up before its request reaches them.
 */
export function gate(): Gate {
  const held: (() => void)[] = []
  return {
    handler: (_req, _res, next) => held.push(() => next()),
    open() {
      const passed = held.splice(0)
      for (const pass of passed) pass()
      return passed.length
    },
  }
}

/** A function of an application that answers its first call late. */
export interface LateAnswer {
  give<T>(value: T): Promise<T>
  release(): void
}

/** Creates a late answer: the first `give` waits for `release`, and all others resolve at once. */
export function lateAnswer(): LateAnswer {
  let release: () => void = () => undefined
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let isFirst = true
  return {
    release,
    async give(value) {
      const waits = isFirst
      isFirst = false
      if (waits) await released
      return value
    },
  }
}
