import { upstashStore } from 'headgate/upstash'

export default upstashStore({
  url: process.env.UPSTASH_REDIS_REST_URL as string,
  token: process.env.UPSTASH_REDIS_REST_TOKEN as string,
})
