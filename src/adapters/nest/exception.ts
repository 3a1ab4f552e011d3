import { STATUS_CODES } from 'node:http'
import type { DenialFigures } from '../../http/denial-body.js'
import type { DenialResponse } from '../../http/response-writer.js'

/** The details of a denial that clients of GraphQL and WebSockets receive. */
export interface DenialDetails {
  /**
   * `'TOO_MANY_REQUESTS'`, `'FORBIDDEN'` if the IP address is blocked, or `'SERVICE_UNAVAILABLE'` if the
   * store failed. With `statusCode`, the name of that status.
   */
  readonly code: string
  /**
   * The time until the same request is allowed, in milliseconds, rounded up. Absent if waiting does not
   * help.
   */
  readonly retryAfterMs?: number
  /** The names of the limits that denied. */
  readonly violatedPolicies?: readonly string[]
}

/** Marks the exceptions of all copies of this package in a process, as one imported and one required. */
const MARK = Symbol.for('headgate.rateLimitException')

/**
 * The error that the guard throws for a denied request. `RateLimitFilter` responds to it.
 *
 * @example
 * ```ts
 * import { type ArgumentsHost, Catch } from '@nestjs/common'
 * import { RateLimitException, RateLimitFilter } from 'headgate/nest'
 *
 * @Catch(RateLimitException)
 * export class DenialFilter extends RateLimitFilter {
 *   override catch(exception: RateLimitException, host: ArgumentsHost) {
 *     console.log('denied by', exception.extensions.violatedPolicies)
 *     return super.catch(exception, host)
 *   }
 * }
 * ```
 */
export class RateLimitException extends Error {
  override readonly name = 'RateLimitException'
  readonly status: number
  readonly statusCode: number
  /** @internal */
  readonly [MARK] = true
  /** Whether the message may be shown, as in errors of the package http-errors. */
  readonly expose = true
  /** The details of the denial, which are part of the error in a GraphQL response. */
  readonly extensions: DenialDetails
  /** The whole response to an HTTP request. */
  readonly denial: DenialResponse

  constructor(response: DenialResponse, figures?: DenialFigures) {
    super(STATUS_CODES[response.status] ?? STATUS_CODES[429])
    const { retryAfterMs = Number.POSITIVE_INFINITY, parts = [] } = figures ?? {}
    this.status = response.status
    this.statusCode = response.status
    this.denial = response
    const violatedPolicies = parts.filter(({ allowed }) => !allowed).map(({ name }) => name)
    this.extensions = {
      code: this.message.toUpperCase().replace(/\W+/g, '_'),
      ...(Number.isFinite(retryAfterMs) && { retryAfterMs: Math.ceil(retryAfterMs) }),
      ...(violatedPolicies.length > 0 && { violatedPolicies }),
    }
  }

  /** Makes `instanceof` hold for the exceptions of all copies of this package, as in filters of Nest. */
  static override [Symbol.hasInstance](value: unknown): value is RateLimitException {
    return typeof value === 'object' && value !== null && MARK in value
  }

  /** Returns the status, as Nest's `HttpException` does. */
  getStatus(): number {
    return this.status
  }

  /** Returns the body of the HTTP response. */
  getResponse(): string {
    return this.denial.body
  }

  /** Returns what a WebSocket client is sent, as Nest's `WsException` does. */
  getError(): DenialDetails & { readonly status: 'error'; readonly message: string } {
    return { status: 'error', message: this.message, ...this.extensions }
  }
}
