import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { fixedWindow, type LimiterOptions, rateLimit } from 'headgate'
import { redisStore } from 'headgate/redis'
import { useRedis } from './use-redis.js'

const redis = useRedis()

/** Which limit denied a response, and its retry time in seconds. */
interface Denial {
  readonly limit: string | null
  readonly retryAfter: number
}

/** Requests the paths in order. Returns the denials, in order. */
async function denialsOf(denyCache: false | '1m', paths: readonly string[]): Promise<(Denial | undefined)[]> {
  const by = (name: string) => (req: { url?: string }) =>
    new URL(req.url ?? '', 'http://localhost').searchParams.get(name)
  const limits = [
    { name: 'short', policy: fixedWindow({ limit: 2, window: '1h' }), key: by('client') },
    { name: 'long', policy: fixedWindow({ limit: 3, window: '30d' }), key: by('team') },
  ] as LimiterOptions<{ url?: string }>['limits']
  const app = express()
  const limiter = rateLimit({
    name: `cache-${denyCache}`,
    limits: limits as never,
    store: redisStore(redis.client),
    timeout: '10s',
    denyCache,
  })
  app.use(limiter, (req, res) => {
    res.end(String(req.rateLimit?.limitName))
  })
  limiter.limiter.events.on('denied', ({ limitName }) => names.push(limitName))
  const names: string[] = []
  const server = createServer(app).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const denials: (Denial | undefined)[] = []
  for (const path of paths) {
    const response = await fetch(origin + path)
    await response.text()
    const retryAfter = Number(response.headers.get('retry-after'))
    denials.push(response.status === 429 ? { limit: names.pop() ?? null, retryAfter } : undefined)
  }
  server.close()
  return denials
}

test('of two limits that deny, a response from the cache names the one that the store names', async () => {
  const ann = '/?client=ann&team=red'
  const bob = '/?client=bob&team=red'
  const eve = '/?client=eve&team=blue'
  // Ann is over `short`, and so over it in the cache, before Bob brings the team over `long`.
  const paths = [ann, ann, ann, ann, bob, bob, ann, bob, eve, ann, eve, eve, bob, ann]
  const [cached, plain] = [await denialsOf('1m', paths), await denialsOf(false, paths)]
  const rounded = (denials: (Denial | undefined)[]) =>
    denials.map((denial) => denial && { ...denial, retryAfter: Math.round(denial.retryAfter / 60) })
  expect(rounded(cached)).toEqual(rounded(plain))
  expect(plain.map((denial) => denial?.limit)).toEqual([
    undefined,
    undefined,
    'short',
    'short',
    undefined,
    'long',
    'long',
    'long',
    undefined,
    'long',
    undefined,
    'short',
    'long',
    'long',
  ])
})
