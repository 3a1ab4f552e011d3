import { byIp, rateLimit } from 'headgate/fetch'

const limit = rateLimit({ limit: 2, window: '1h', key: byIp({ trustProxy: 1 }) })

export async function middleware(request) {
  const next = new Response(null, { headers: { 'x-middleware-next': '1' } })
  return (await limit(request, {})) ?? limit.finish(request, next)
}

export const config = { matcher: '/codes/behind-middleware' }
