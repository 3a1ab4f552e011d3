import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { useUpstash } from '../integration/upstash/use-upstash.js'
import type { RuntimeName, StartOptions } from './runtimes.js'
import { type Running, startIn } from './start-in.js'
import { optionsFor } from './use-upstash.js'

const ISOLATES = 4
const REQUESTS = 1000
const AT_ONCE = 50

const folder = mkdtempSync(join(tmpdir(), 'headgate-kv-'))
const kvFile = join(folder, 'limits.kv')
afterAll(() => rmSync(folder, { recursive: true }))

const upstash = useUpstash()
const { redis } = upstash
/** Starts a runtime several times. All of them share what the store is in. */
function startAll(name: RuntimeName, store: string, options: StartOptions): Promise<Running[]> {
  const given = { ...options, store: `${__dirname}/stores/${store}.ts` }
  const start = () => startIn(name, `${__dirname}/apps/exact.ts`, given)
  return Promise.all(Array.from({ length: ISOLATES }, start))
}

/** Sends the requests of one isolate, and counts their statuses. */
async function statusesOf(url: string): Promise<Record<number, number>> {
  const statuses: Record<number, number> = {}
  let sent = 0
  async function call(): Promise<void> {
    while (sent++ < REQUESTS) {
      const response = await fetch(url)
      await response.text()
      statuses[response.status] = (statuses[response.status] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, call))
  return statuses
}

/** The runtimes with a store that its processes share. */
const SHARED: readonly (readonly [RuntimeName, string, () => StartOptions])[] = [
  ['Node.js', 'redis', () => ({ env: { REDIS_URL: redis.server.url } })],
  ['workerd', 'upstash', () => optionsFor(upstash)],
  ['edge-runtime', 'upstash', () => optionsFor(upstash)],
  [
    'Deno',
    'deno-kv',
    () => ({ env: { KV_PATH: kvFile }, args: ['--unstable-kv', '--allow-read', '--allow-write'] }),
  ],
]

test.each(SHARED)(
  'in four of %s with %s, a limit of 1,000 admits 1,000 of 4,000',
  async (name, store, options) => {
    const running = await startAll(name, store, options())
    try {
      const all = await Promise.all(running.map(({ url }) => statusesOf(url)))
      const totalOf = (status: number) => all.reduce((total, statuses) => total + (statuses[status] ?? 0), 0)
      expect({ allowed: totalOf(200), denied: totalOf(429) }).toEqual({ allowed: 1000, denied: 3000 })
    } finally {
      await Promise.all(running.map((each) => each.close()))
    }
  },
)
