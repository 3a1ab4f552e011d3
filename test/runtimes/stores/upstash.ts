import { upstashStore } from 'headgate/upstash'

export const store = upstashStore({
  url: process.env.UPSTASH_REDIS_REST_URL as string,
  token: process.env.UPSTASH_REDIS_REST_TOKEN as string,
})
