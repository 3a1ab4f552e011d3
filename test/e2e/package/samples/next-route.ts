import { byIp, rateLimit } from 'headgate/fetch'

const limit = rateLimit({ limit: 5, window: '1h', key: byIp({ trustProxy: 1 }) })

export function GET(request: Request): Promise<Response> {
  return limit.handle(request, {}, () => Response.json({ remaining: limit.decisionOf(request)?.remaining }))
}
