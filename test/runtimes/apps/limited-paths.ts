import { fixedWindow, type RateLimitOptions, rateLimit, type Store } from 'headgate/hono'
import { type Context, Hono } from 'hono'

export const LIMIT = 20

/** The client that a request names. */
export const key = (c: Context) => c.req.query('key') ?? ''

/**
 * Returns an application with limiters on a store, and a function that serves one more path. `/one` waits for the
 * store. `/deny`, `/allow` and `/local` do what their names say once the store has hung for `HANG_TIMEOUT`.
 * The header `x-decided-by` says who decided.
 */
export function limitedPaths(store: Store) {
  const app = new Hono()
  app.use(async (c, next) => {
    await next()
    c.header('x-decided-by', c.get('rateLimit')?.source)
  })

  /** Serves `/name` behind a limiter of this name. */
  function serve(name: string, options: RateLimitOptions = {}): void {
    const given: RateLimitOptions = {
      name,
      store,
      ...(options.limits === undefined && { key, policy: fixedWindow(WINDOW) }),
      timeout: '1m', // longer than a busy machine takes
      onStoreError: 'deny',
      denyCache: false,
      ...options,
    }
    app.get(`/${name}`, rateLimit(given), async (c) => {
      const holdMs = Number(c.req.query('hold') ?? 0)
      if (holdMs > 0) await new Promise((resolve) => setTimeout(resolve, holdMs))
      return c.text(name, c.req.query('fail') ? 500 : 200)
    })
  }

  serve('one')
  for (const onStoreError of ['allow', 'deny', 'local'] as const)
    serve(onStoreError, { onStoreError, timeout: process.env.HANG_TIMEOUT as '1s' })
  return { app, serve }
}

const WINDOW = { limit: LIMIT, window: '1d', startsAt: 'first-request' } as const
