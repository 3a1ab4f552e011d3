import { env } from 'cloudflare:workers'
import { durableObjectsStore } from 'headgate/durable-objects'

export const store = durableObjectsStore(env.LIMITS)
