import { hasAmount } from '../../http/inherited-options.js'
import { passRequest, type RequestSteps, requestSteps } from '../../http/request-steps.js'
import type { MiddlewareLimiter } from '../../limiter/limiter.js'
import { endUndecided } from '../../limiter/undecided.js'
import type { MaybePromise } from '../../util/maybe-promise.js'
import { warnOnce } from '../../util/warn-once.js'
import { hasStatus, isNestedField } from './call.js'
import { type LimitDecoration, limitedDecorations } from './decorators.js'
import { type Decoration, decorationOf } from './metadata.js'
import {
  checkDecoration,
  checkModule,
  type InheritedOptions,
  optionsOf,
  type RateLimitModuleOptions,
} from './options.js'
import { type NestResponse, nestWriter } from './response-writer.js'
import type { ExecutionContext } from './types.js'

const MODULE = 'RateLimitModule'

/** How the guard limits a handler. */
export interface HandlerLimit {
  readonly limiter: MiddlewareLimiter<object>
  /** Returns whether a request passes. */
  readonly pass: (req: object, res: NestResponse) => MaybePromise<boolean>
  readonly exception: InheritedOptions['exception']
}

/**
 * The limiters of an application. Inject it to listen to their events, or to call `adjustments`.
 *
 * @example
 * ```ts
 * import { Injectable } from '@nestjs/common'
 * import { adjustments, RateLimiters } from 'headgate/nest'
 *
 * @Injectable()
 * export class Support {
 *   constructor(private readonly limiters: RateLimiters) {}
 *
 *   async release(ip: string) {
 *     const limiter = this.limiters.default
 *     if (limiter) await adjustments(limiter).forget({ ip })
 *   }
 * }
 * ```
 */
export class RateLimiters {
  /** @internal */
  readonly isGlobal: boolean
  readonly #shared: InheritedOptions
  readonly #own = new Map<Decoration, HandlerLimit>()
  readonly #default: HandlerLimit | undefined

  constructor(options: RateLimitModuleOptions<never, never>) {
    checkModule(MODULE, options)
    const { global = true, ...shared } = options
    this.isGlobal = global
    this.#shared = shared as InheritedOptions
    this.#default = hasAmount(this.#shared) ? handlerLimit(MODULE, this.#shared) : undefined
    for (const decoration of limitedDecorations) this.#createUnlessForeign(decoration)
  }

  /**
   * The shared limiter of the module, or `undefined` if its options have no `limit`, `policy` or `limits`.
   */
  get default(): MiddlewareLimiter<object> | undefined {
    return this.#default?.limiter
  }

  /**
   * Returns the limiter of a class or handler with `@RateLimit`, by its name, such as
   * `'AuthController.login'`.
   */
  get(name: string): MiddlewareLimiter<object> | undefined {
    for (const [decoration, { limiter }] of this.#own) if (decoration.name === name) return limiter
    return undefined
  }

  /** @internal */
  limitFor(context: ExecutionContext): HandlerLimit | undefined {
    const decoration = decorationOf(context.getHandler(), context.getClass())
    if (decoration === undefined) return isNestedField(context) ? undefined : this.#default
    return decoration.options === undefined ? undefined : this.#limitOf(decoration)
  }

  /** @internal */
  async close(): Promise<void> {
    const limiters = [this.default, ...Array.from(this.#own.values(), ({ limiter }) => limiter)]
    await Promise.all(limiters.map((limiter) => limiter?.close()))
  }

  /**
   * Creates the limiter of a decoration. Its class may be of another application in this process, so options
   * that do not go with those of this module are a warning now, and throw when a handler is called.
   */
  #createUnlessForeign(decoration: LimitDecoration): void {
    checkDecoration(ownerOf(decoration), decoration.options)
    try {
      this.#limitOf(decoration)
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      warnOnce(
        'HEADGATE_NEST_OPTIONS',
        `${error.message} Its handlers throw this error when they are called.`,
      )
    }
  }

  #limitOf(decoration: Decoration): HandlerLimit {
    const existing = this.#own.get(decoration)
    if (existing !== undefined) return existing
    const owner = ownerOf(decoration)
    const limit = handlerLimit(owner, optionsOf(decoration, this.#shared))
    this.#own.set(decoration, limit)
    return limit
  }
}

const ownerOf = ({ name }: Decoration): string => `RateLimit of ${name}`

function handlerLimit(owner: string, given: InheritedOptions): HandlerLimit {
  const { exception, ...options } = given
  const steps = settlingByStatus(requestSteps(owner, options, nestWriter))
  return { limiter: steps.limiter, pass: (req, res) => passRequest(steps, req, res, undefined), exception }
}

/** Has the options that act after a response do so only if its status says how the request went. */
function settlingByStatus(steps: RequestSteps<object, NestResponse>): RequestSteps<object, NestResponse> {
  const { onAllowed } = steps
  if (onAllowed === undefined) return steps
  return {
    ...steps,
    onAllowed(limiter, req, res, decision) {
      if (hasStatus(req)) onAllowed(limiter, req, res, decision)
      else endUndecided(decision)
    },
  }
}
