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
 * The exception filter that responds to denied requests, and to no others. The module applies it to all
 * routes. Nest applies no such filter to gateways, so write `@UseFilters(RateLimitFilter)` above each
 * gateway.
 *
 * An HTTP request gets the response of the middleware. A GraphQL field gets an error with `extensions`, and
 * a WebSocket client gets the event `exception`.
 *
 * @example
 * ```ts
 * import { UseFilters, UseGuards } from '@nestjs/common'
 * import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets'
 * import { RateLimitFilter, RateLimitGuard } from 'headgate/nest'
 *
 * @WebSocketGateway()
 * @UseGuards(RateLimitGuard)
 * @UseFilters(RateLimitFilter)
 * export class ChatGateway {
 *   @SubscribeMessage('say')
 *   say() {
 *     return { event: 'said', data: 'ok' }
 *   }
 * }
 * ```
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
