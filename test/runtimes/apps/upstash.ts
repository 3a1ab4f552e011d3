import { createLimiter } from 'headgate/fetch'
import { upstashStore } from 'headgate/upstash'

const store = upstashStore({ url: process.env.URL, token: process.env.TOKEN })
const limiter = createLimiter({
  name: 'upstash',
  limit: 100,
  window: '1d',
  store,
  onStoreError: 'deny',
  timeout: '30s',
  key: (client: string) => client,
})

/** Charges the client that the path names. */
export default {
  async fetch(request: Request): Promise<Response> {
    const { allowed } = await limiter.charge(new URL(request.url).pathname)
    return new Response(null, { status: allowed ? 200 : 429 })
  },
}
