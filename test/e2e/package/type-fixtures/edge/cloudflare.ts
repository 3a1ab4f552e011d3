// A Worker with Cloudflare's types, and no others.
import { env } from 'cloudflare:workers'
import {
  durableObjectsStore,
  LimitsObject,
  limitsObject,
  type ObjectNamespace,
  tokenBucketKind,
} from 'headgate/durable-objects'
import { rateLimit } from 'headgate/fetch'
import { rateLimit as rateLimitOfHono } from 'headgate/hono'
import { Hono } from 'hono'

export { LimitsObject }
export class Limits extends LimitsObject {}
export class BucketLimits extends limitsObject(tokenBucketKind) {}
export class LimitsOfTomorrow extends LimitsObject {
  protected override now(): number {
    return super.now() + 86_400_000
  }
}

/** The bindings, as `wrangler types` declares them. */
interface Bindings {
  readonly LIMITS: DurableObjectNamespace<LimitsObject>
  readonly OWN: DurableObjectNamespace<Limits>
  readonly BUCKETS: DurableObjectNamespace<BucketLimits>
  readonly OF_ANOTHER_WORKER: DurableObjectNamespace
}

declare global {
  namespace Cloudflare {
    interface Env extends Bindings {}
  }
}

const store = durableObjectsStore(env.LIMITS, { locationHint: 'weur' })
export const stores = [
  durableObjectsStore(env.LIMITS.jurisdiction('eu')),
  durableObjectsStore(() => env.OWN),
  durableObjectsStore(env.BUCKETS),
  durableObjectsStore(env.OF_ANOTHER_WORKER),
]
export const namespaceOf = (bindings: Bindings): ObjectNamespace => bindings.LIMITS

const api = rateLimit({
  limit: 2,
  window: '1h',
  store,
  key: ({ request }) => request.headers.get('x-key') ?? '',
})

export default {
  fetch: (request, _bindings, context) =>
    api.handle(
      request,
      { ip: request.headers.get('cf-connecting-ip') ?? '', waitUntil: (work) => context.waitUntil(work) },
      () => new Response('hello'),
    ),
} satisfies ExportedHandler<Bindings>

export const app = new Hono<{ Bindings: Bindings }>()
app.use(rateLimitOfHono({ limit: 2, window: '1h', store, key: (c) => c.req.header('x-key') }))
app.get('/', (c) => c.text(`${c.get('rateLimit')?.remaining.toFixed()} left`))

export const mistakes = [
  // @ts-expect-error: a stub is one object
  () => durableObjectsStore(env.LIMITS.get(env.LIMITS.idFromName('a'))),
  // @ts-expect-error: KV has no objects
  (kv: KVNamespace) => durableObjectsStore(kv),
]
