import { RateLimitException } from './exception.js'
import { declareCaught } from './metadata.js'
import { type PlatformResponse, sendDenialResponse } from './response-writer.js'
import type { ArgumentsHost } from './types.js'

/** What Nest sends to clients of WebSockets by: the package ws has `send` and a state, Socket.IO `emit`. */
interface EmittingClient {
  readonly readyState?: unknown
  send(message: string): unknown
  emit(event: string, data: unknown): unknown
}

/**
 * The exception filter that responds to denied requests, and no others. The module has Nest apply it to all
 * routes. Nest applies such filters to no gateways: write `@UseFilters(RateLimitFilter)` above each.
 *
 * An HTTP request gets the response of the middleware; a GraphQL field an error with `extensions`; a
 * WebSocket client the event `exception`.
 */
export class RateLimitFilter {
  constructor() {
    // Not when this file is loaded: Nest, which loads reflect-metadata, may be loaded after it.
    declareCaught(RateLimitFilter, [RateLimitException])
  }

  catch(exception: unknown, host: ArgumentsHost): void {
    const type = host.getType()
    if (!(exception instanceof RateLimitException) || (type !== 'http' && type !== 'ws')) throw exception
    if (type === 'ws') emitTo(host.getArgs<[EmittingClient]>()[0], exception.getError())
    else sendDenialResponse(host.getArgs<[unknown, PlatformResponse]>()[1], exception)
  }
}

function emitTo(client: EmittingClient, data: object): void {
  if (typeof client.readyState === 'number') client.send(JSON.stringify({ event: 'exception', data }))
  else client.emit('exception', data)
}
