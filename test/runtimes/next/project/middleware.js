import { byIp, rateLimit } from 'headgate/fetch'
import { upstashStore } from 'headgate/upstash'

const { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token } = process.env
const shared = url && { store: upstashStore({ url, token }), timeout: '30s' }
const limit = rateLimit({
  name: 'middleware',
  limit: 2,
  window: '1h',
  key: byIp({ trustProxy: 1 }),
  ...shared,
})

export async function middleware(request) {
  const next = new Response(null, { headers: { 'x-middleware-next': '1' } })
  return (await limit(request, {})) ?? limit.finish(request, next)
}

export const config = { matcher: '/codes/behind-middleware' }
