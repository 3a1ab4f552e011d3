import { createLimiter, fixedWindow, memoryStore, tokenBucket } from 'headgate'
import { loginGuard, overloadGuard, rateLimit } from 'headgate/fetch'
import { customRedisStore } from 'headgate/redis'
import { compareAndSwapStore, type Store } from 'headgate/store'
import { manualClock, storeConformance } from 'headgate/testing'

const limit = rateLimit({
  name: 'api',
  policy: tokenBucket({ capacity: 10, refill: 1, every: '1s' }),
  store: memoryStore(),
  key: ({ request }) => request.headers.get('x-api-key') ?? '',
})
limit.limiter.events.on('denied', (decision) => decision.retryAfterMs.toFixed())
// @ts-expect-error an event has a name
limit.limiter.events.on('refused', () => undefined)

export const overload = overloadGuard({
  priority: ({ request }) => (request.url.endsWith('/pay') ? 'critical' : 'default'),
  routeClass: ({ route }, response) => `${route} ${response.status}`,
  onDenied: (_subject, { retryAfterMs }) => Response.json({ retryAfterMs }, { status: 503 }),
})
export const guarded = (request: Request) => overload.handle(request, {}, () => new Response('hello'))

export const guard = loginGuard({ field: 'username', path: '/login' })

export const jobs = createLimiter<{ user: string }>({
  policy: fixedWindow({ limit: 10, window: '1m' }),
  key: ({ user }) => user,
})

export const versioned: Store = compareAndSwapStore({
  name: 'versioned',
  read: async (keys) => keys.map(() => undefined),
  swap: async () => true,
})

export const clock = manualClock()

export const cases = storeConformance({
  makeStore: () => ({ store: memoryStore({ clock }), advance: (ms) => void clock.advance(ms) }),
  capabilities: { settableClock: true, anyKey: true, atomicAcrossKeys: true },
})

export { customRedisStore }

export default {
  fetch: (request: Request): Promise<Response> =>
    limit.handle(request, { ip: request.headers.get('cf-connecting-ip') ?? '' }, () => new Response('hello')),
}
