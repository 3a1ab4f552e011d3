import type { ChildProcess } from 'node:child_process'
import type { RedisServer } from '../../support/servers/redis.js'
import type { Sent, Source, trafficTo } from './traffic.js'

/** The servers, what stands behind them, and what sends to them. */
export interface Stage {
  readonly redis: RedisServer
  readonly servers: readonly { readonly child: ChildProcess; readonly port: number }[]
  readonly traffic: ReturnType<typeof trafficTo>
}

/** An incident: what happens, what the page must say of it, and how an operator ends it. */
export interface Incident {
  readonly name: string
  /** Begins. Returns what sends the requests that are denied; none if no request is. */
  begin(stage: Stage): Promise<Source | undefined>
  /** What the first sentence must contain: what, whom and why. It must also have a time of day. */
  readonly says: readonly RegExp[]
  /** The names of the buttons and links that an operator clicks, in order. */
  readonly clicks: readonly RegExp[]
  /** Returns whether it is solved, by a request of whom it was about. */
  isSolved?(stage: Stage): Promise<boolean>
  /** The limiter whose counts must equal those of the source. */
  readonly limiter?: string
}

/** Addresses from the ranges for documentation (RFC 5737), as many as are wanted. */
const addressIn = (network: string, i: number) => `${network}.${1 + (i % 250)}`

const scraping = (i: number): Sent => ({
  method: 'GET',
  path: `/products/${i % 1000}`,
  from: addressIn('203.0.113', i % 40),
})

const guessing = (i: number): Sent => ({
  method: 'POST',
  path: '/login',
  from: addressIn('198.51.100', i % 212),
  form: `username=ada&password=guess-${i}`,
})

const searching = (): Sent => ({
  method: 'POST',
  path: '/search',
  from: '192.0.2.7',
  headers: { 'x-api-key': 'acme' },
})

export const INCIDENTS: readonly Incident[] = [
  {
    name: 'a scraper over 40 addresses',
    begin: async ({ traffic }) => traffic.start(120, scraping),
    limiter: 'api',
    says: [/40 addresses in 203\.0\.113\.0\/24/, /GET \/products\/:id/],
    clicks: [/^Block .*203\.0\.113\.0\/24/, /^Block/],
    isSolved: async ({ traffic }) => (await traffic.probe(scraping(0))) === 403,
  },
  {
    name: 'a brute force on one account',
    begin: async ({ traffic }) => traffic.start(20, guessing),
    limiter: 'login',
    says: [/under attack/, /from \d+ addresses/, /POST \/login/],
    clicks: [/^Block .*198\.51\.100\.0\/24/, /^Block/],
    isSolved: async ({ traffic }) => (await traffic.probe(guessing(0))) === 403,
  },
  {
    name: 'a customer denied by a plan that is too small',
    begin: async ({ traffic }) => traffic.start(8, searching),
    limiter: 'search',
    says: [/at its limit of 50 per 10s/, /POST \/search/],
    clicks: [/^Raise/, /^Raise/],
    isSolved: async ({ traffic }) => (await traffic.probe(searching())) === 200,
  },
  {
    name: 'a frozen Redis',
    async begin({ redis, traffic }) {
      await redis.kill('SIGSTOP')
      traffic.start(20, (i) => ({ method: 'GET', path: '/', from: addressIn('192.0.2', i) }))
      return undefined
    },
    says: [/redis has not replied/, /process/],
    clicks: [],
  },
  {
    name: 'a process that died',
    async begin({ servers, traffic }) {
      const last = servers.at(-1)
      if (last === undefined) throw new Error('there must be a server')
      traffic.leave(last.port)
      last.child.kill('SIGKILL')
      return undefined
    },
    says: [/process \d+/, /silent/, /3 of 4 processes/],
    clicks: [],
  },
]
