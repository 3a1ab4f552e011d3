import type { ExtendableContext, Response } from 'koa'
import { nodeFixes } from '../../http/framework-fixes.js'
import { keepUncacheable } from '../../http/keep-uncacheable.js'
import { LAST_RECORD } from '../../http/recorded-decision.js'
import { nodeWriter, setAll, writerOver } from '../../http/response-writer.js'
import { type RequestLike, viewAsRequest } from '../../keys/request.js'
import { type GuardRoute, isGuard } from '../../login/place.js'
import { fieldsOf } from '../../util/values.js'
import { warnOnce } from '../../util/warn-once.js'

/** What middleware keeps at a context, and no type of Koa has. */
interface Extras {
  readonly state?: unknown
  /** The pattern of @koa/router that matched. */
  readonly _matchedRoute?: unknown
}

/** What key functions read of a context. Its own `body` is that of the response. */
class ContextView implements RequestLike {
  readonly #ctx: ExtendableContext & Extras

  constructor(ctx: ExtendableContext & Extras) {
    this.#ctx = ctx
  }

  get ip(): string {
    const { app, ip } = this.#ctx
    if (app.proxy && !(app.maxIpsCount > 0) && app.proxyIpHeader === 'X-Forwarded-For') warnOfAnyProxy()
    return ip
  }
  get method(): string {
    return this.#ctx.method
  }
  get originalUrl(): string {
    return this.#ctx.originalUrl
  }
  get route(): { path: unknown } {
    return { path: this.#ctx._matchedRoute }
  }
  get user(): unknown {
    return fieldsOf(this.#ctx.state).user
  }
  get body(): unknown {
    return fieldsOf(this.#ctx.request).body
  }
  get headers(): object {
    return this.#ctx.req.headers
  }
  get socket(): object {
    return this.#ctx.req.socket
  }
  get stream(): unknown {
    return fieldsOf(this.#ctx.req).stream
  }
}

/** A route of @koa/router, or middleware that it calls before several: that has no methods. */
interface KoaLayer {
  readonly path: unknown
  readonly methods: readonly string[]
  readonly stack: readonly unknown[]
}

interface KoaRouter {
  readonly stack?: readonly KoaLayer[]
}

/** What @koa/router and koa-mount store on a context. */
interface Routed extends Extras {
  readonly router?: KoaRouter
  readonly mountPath?: unknown
}

/**
 * Returns the route of @koa/router in which a guard runs. The routers of the application show where else the
 * guard is. Composed routers and mounted applications cannot be seen.
 */
export function koaRoute(ctx: ExtendableContext & Routed, guard: { readonly limiter: unknown }): GuardRoute {
  const { router, mountPath, _matchedRoute: path } = ctx
  const { middleware } = ctx.app as { readonly middleware?: readonly unknown[] }
  const used = middleware ?? []
  const routers: unknown[] = used.flatMap((each) => fieldsOf(each).router ?? [])
  const layers = [...new Set([router, ...routers])].flatMap(
    (each) => (fieldsOf(each) as KoaRouter).stack ?? [],
  )
  const guarded = layers.filter(({ stack }) => stack.some((each) => isGuard(each, guard)))
  const patterns = new Set(guarded.map(({ path: pattern, methods }) => methods.length > 0 && pattern))
  const isHere = patterns.has(path)
  // OpenTelemetry hides a guard in the first route that it wraps, and marks it.
  const isMarked = Object.getOwnPropertySymbols(guard).length > 0
  const isElsewhere = patterns.size > (isHere ? 1 : 0) || used.some((each) => isGuard(each, guard))
  const isOnly = isElsewhere ? false : (isHere && !isMarked && routers.includes(router)) || undefined
  return { path, id: `${String(mountPath ?? '')} ${String(path)}`, isOnly }
}

/** Makes room for what limiters keep at a context, unless an earlier one has. */
export function prepareContext(ctx: ExtendableContext & { [LAST_RECORD]?: unknown }): void {
  if (Object.hasOwn(ctx, LAST_RECORD)) return
  ctx[LAST_RECORD] = undefined
  viewAsRequest(ctx, new ContextView(ctx))
}

const FIXES = nodeFixes({
  onDenied: '(ctx, next, decision)',
  count: '(ctx) => ctx.status < 500',
  decision: 'ctx.rateLimit',
})

/** The responses of Koa. A denial goes through Koa's own, so that outer middleware sees it. */
export const koaWriter = writerOver<Response>(FIXES, ({ res }) => res, {
  presetStatus(response, status) {
    // In Koa 2 and 3, setting a body sets the status to 200, unless this field says that a status was set.
    const { status: before, _explicitStatus = false }: Response & { _explicitStatus?: boolean } = response
    response.status = status
    return () => {
      response.status = before
      Object.assign(response, { _explicitStatus })
    }
  },
  send(response, denial) {
    if (response.ctx.respond === false) return nodeWriter.send(response.res, denial) // Koa would send nothing
    setAll(response.res, [...denial.headers, 'Content-Type', denial.contentType])
    keepUncacheable(response.res)
    response.status = denial.status
    response.body = denial.body
  },
})

function warnOfAnyProxy(): void {
  warnOnce(
    'HEADGATE_TRUSTS_EVERY_PROXY',
    'headgate: app.proxy is true and app.maxIpsCount is 0, so clients can choose their own IP address with ' +
      'X-Forwarded-For. Set app.maxIpsCount to the number of your proxies.',
  )
}
