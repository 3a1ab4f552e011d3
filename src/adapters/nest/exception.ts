import { STATUS_CODES } from 'node:http'
import type { DenialFigures } from '../../http/denial-body.js'
import type { DenialResponse } from '../../http/response-writer.js'

/** What headgate sends to clients of GraphQL and WebSockets about a denial. */
export interface DenialDetails {
  /**
   * `'TOO_MANY_REQUESTS'`; `'FORBIDDEN'` if the address is blocked; `'SERVICE_UNAVAILABLE'` if the
   * store failed. With `statusCode`, the name of that status.
   */
  readonly code: string
  /** The time until the same request is allowed, rounded up. Absent if waiting does not help. */
  readonly retryAfterMs?: number
  /** The names of the limits that denied. */
  readonly violatedPolicies?: readonly string[]
}

/** Marks the exceptions of all copies of this package in a process, as one imported and one required. */
const MARK = Symbol.for('headgate.rateLimitException')

/** What the guard throws for a denied request. `RateLimitFilter` responds to it. */
export class RateLimitException extends Error {
  override readonly name = 'RateLimitException'
  readonly status: number
  readonly statusCode: number
  /** @internal */
  readonly [MARK] = true
  /** As errors of the package http-errors have it: the message may be shown. */
  readonly expose = true
  /** Part of the error in a GraphQL response. */
  readonly extensions: DenialDetails
  /** The whole response to an HTTP request. */
  readonly refusal: DenialResponse

  constructor(response: DenialResponse, figures?: DenialFigures) {
    super(STATUS_CODES[response.status] ?? STATUS_CODES[429])
    const { retryAfterMs = Number.POSITIVE_INFINITY, parts = [] } = figures ?? {}
    this.status = response.status
    this.statusCode = response.status
    this.refusal = response
    const violatedPolicies = parts.filter(({ allowed }) => !allowed).map(({ name }) => name)
    this.extensions = {
      code: this.message.toUpperCase().replace(/\W+/g, '_'),
      ...(Number.isFinite(retryAfterMs) && { retryAfterMs: Math.ceil(retryAfterMs) }),
      ...(violatedPolicies.length > 0 && { violatedPolicies }),
    }
  }

  /** Has `instanceof` hold, as in filters of Nest, for the exceptions of all copies of this package. */
  static override [Symbol.hasInstance](value: unknown): value is RateLimitException {
    return typeof value === 'object' && value !== null && MARK in value
  }

  /** The status, as Nest's `HttpException` has it. */
  getStatus(): number {
    return this.status
  }

  /** The body of the HTTP response. */
  getResponse(): string {
    return this.refusal.body
  }

  /** What a WebSocket client is sent, as Nest's `WsException` has it. */
  getError(): DenialDetails & { readonly status: 'error'; readonly message: string } {
    return { status: 'error', message: this.message, ...this.extensions }
  }
}
