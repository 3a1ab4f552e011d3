import {
  concurrency,
  createLimiter,
  fixedWindow,
  leased,
  requestDelay,
  type Store,
  sharedSettings,
  tokenBucket,
  waitFor,
} from 'headgate/hono'
import { ownerStore } from 'headgate/store'
import type { Context } from 'hono'
import { key, limitedPaths } from './limited-paths.js'

/** Sends a message to the process that owns the counts, in a request of its own. */
async function ask(path: string, message: unknown): Promise<unknown> {
  const response = await fetch(`${process.env.OWNER_URL}${path}`, {
    method: 'POST',
    body: JSON.stringify(message),
  })
  return response.json()
}

const store: Store = ownerStore({
  name: 'owner',
  timeout: '1m',
  defaultTimeoutMs: 60_000, // longer than a busy machine takes
  send: (message) => ask('/operations', message),
  documents: {
    read: async (requests) =>
      ((await ask('/documents/read', [requests])) as never[]).map((found) => found ?? undefined),
    replace: async (...replaced) => (await ask('/documents/replace', replaced)) as boolean,
  },
})

const policy = fixedWindow({ limit: 20, window: '1d', startsAt: 'first-request' })
const { app, serve } = limitedPaths(store)

serve('cached', { denyCache: '1s' })
serve('several', {
  limits: [
    { name: 'first', policy: fixedWindow({ limit: 30, window: '1d' }), key },
    { name: 'second', policy, key },
  ],
})
serve('delayed', {
  policy: fixedWindow({ limit: 2000, window: '1d' }),
  delay: requestDelay({ after: 5, by: '2ms', max: '300ms' }),
})
serve('held', { policy: concurrency({ limit: 5, ttl: '2s' }) })
serve('failed', { count: 'failed' })
serve('settings', { settings: sharedSettings(store) })

const waiting = createLimiter<Context>({
  name: 'waiting',
  store,
  policy: tokenBucket({ capacity: 20, refill: 100, every: '1s' }),
  key,
})
app.get('/waiting', async (c) => {
  const { allowed } = await waiting.waitFor(c, { maxWait: '10s' })
  return c.text('waiting', allowed ? 200 : 429)
})

const places = createLimiter<Context>({
  name: 'places',
  store,
  policy: concurrency({ limit: 5, ttl: '2s' }),
  key,
})
app.get('/places', async (c) => {
  const decision = await waitFor(places, c, { maxWait: '20s' })
  await new Promise((resolve) => setTimeout(resolve, 50))
  await places.release(decision)
  return c.text('places', decision.allowed ? 200 : 429)
})

app.get('/leased', (c) => {
  try {
    leased(store)
    return c.text('leased')
  } catch (error) {
    return c.text(String(error), 400)
  }
})

export default app
