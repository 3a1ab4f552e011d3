import { giveUp } from './give-up.js'
import type { StorePlace } from './store.js'

export interface Settings {
  readonly port: number
  readonly place: StorePlace
}

/** Reads the settings from the environment. If one is invalid, prints what is wrong and exits. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  return { port: readPort(env.PORT || '3000'), place: readPlace(env) }
}

function readPort(text: string): number {
  if (isPort(text)) return Number(text)
  return giveUp(
    `PORT must be a whole number from 0 to 65535 (0 = any free port), got ${JSON.stringify(text)}.`,
  )
}

function readPlace(env: NodeJS.ProcessEnv): StorePlace {
  const set = ['REDIS_URL', 'MEMCACHED_URL', 'DATABASE_URL'].filter((name) => env[name])
  if (set.length > 1) {
    const all = `${set.slice(0, -1).join(', ')} and ${set.at(-1)}`
    return giveUp(
      `${all} are ${set.length > 2 ? 'all' : 'both'} set. The demo keeps its limits in one place: unset the others.`,
    )
  }
  const { REDIS_URL, MEMCACHED_URL, DATABASE_URL } = env
  if (REDIS_URL) return { in: 'Redis', url: readRedisUrl(REDIS_URL) }
  if (MEMCACHED_URL) return { in: 'memcached', address: readMemcachedUrl(MEMCACHED_URL) }
  if (DATABASE_URL) return { in: 'a database', url: readDatabaseUrl(DATABASE_URL) }
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

function readDatabaseUrl(text: string): string {
  if (/^(mysql|postgres|postgresql):\/\/[^/?]+\/[^/?]+(\?.*)?$/.test(text) && URL.canParse(text)) return text
  return giveUp(
    'DATABASE_URL must be an address such as mysql://user:password@127.0.0.1:3306/name, or postgres://user:password@127.0.0.1:5432/name.',
  )
}

function isPort(text: string): boolean {
  return /^\d+$/.test(text) && Number(text) <= 65_535
}
