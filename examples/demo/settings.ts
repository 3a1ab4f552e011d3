import { giveUp } from './give-up.js'
import type { StorePlace } from './store.js'

export interface Settings {
  readonly port: number
  readonly place: StorePlace
}

/** Reads what the environment says; says what is wrong with it and ends the process where it cannot be. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  return { port: readPort(env.PORT || '3000'), place: readPlace(env.REDIS_URL, env.MEMCACHED_URL) }
}

function readPort(text: string): number {
  if (isPort(text)) return Number(text)
  return giveUp(
    `PORT must be a whole number from 0 to 65535 (0 = any free port), got ${JSON.stringify(text)}.`,
  )
}

function readPlace(redisUrl: string | undefined, memcachedUrl: string | undefined): StorePlace {
  if (redisUrl && memcachedUrl) {
    return giveUp(
      'REDIS_URL and MEMCACHED_URL are both set. The demo keeps its limits in one place: unset one.',
    )
  }
  if (redisUrl) return { in: 'Redis', url: readRedisUrl(redisUrl) }
  if (memcachedUrl) return { in: 'memcached', address: readMemcachedUrl(memcachedUrl) }
  return { in: 'memory' }
}

function readRedisUrl(text: string): string {
  if (/^rediss?:\/\/[^/?]+(\/\d*)?(\?.*)?$/.test(text) && URL.canParse(text)) return text
  return giveUp('REDIS_URL must be an address such as redis://127.0.0.1:6379, or rediss://... for TLS.')
}

function readMemcachedUrl(text: string): string {
  const match = /^(?:[^\s:@]+:[^\s:@]+@)?[\w.-]+(?::(\w+))?$/.exec(text)
  if (match && isPort(match[1] ?? '11211')) return text
  return giveUp('MEMCACHED_URL must be an address such as 127.0.0.1:11211, or user:password@host:port.')
}

function isPort(text: string): boolean {
  return /^\d+$/.test(text) && Number(text) <= 65_535
}
