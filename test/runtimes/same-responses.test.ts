import { useRedis } from '../integration/redis/use-redis.js'
import type { RuntimeName, StartOptions } from './runtimes.js'
import { startIn } from './start-in.js'
import { type Seen, seenBy } from './traffic.js'

/** How far a time may be off: times are whole seconds, and the runs that are compared take some each. */
const TOLERANCE_SECONDS = 5

const redis = useRedis()

let expected: readonly Seen[]
beforeAll(async () => {
  expected = await serveAndSee('Node.js', 'redis', { env: { REDIS_URL: redis.server.url } })
})

async function serveAndSee(name: RuntimeName, store: string, options?: StartOptions): Promise<Seen[]> {
  const given = { ...options, store: `${__dirname}/stores/${store}.ts` }
  const running = await startIn(name, `${__dirname}/apps/limited.ts`, given)
  try {
    return await seenBy(running.url)
  } finally {
    await running.close()
  }
}

test('on Node.js with Redis, the requests meet each limit', () => {
  const counts: Record<string, number> = {}
  for (const { request, status } of expected) {
    const outcome = `${request.split(' ', 2).join(' ')} ${status}`
    counts[outcome] = (counts[outcome] ?? 0) + 1
  }
  expect(counts).toEqual({
    'GET /search 200': 40,
    'GET /search 429': 39,
    'POST /orders 201': 20,
    'POST /orders 403': 13,
    'POST /orders 429': 32,
    'GET /codes/right 200': 12,
    'GET /codes/right 429': 11,
    'GET /codes/wrong 404': 18,
    'GET /codes/wrong 429': 15,
  })
})

describe.each<[RuntimeName, string, StartOptions]>([
  ['Node.js', 'memory', {}],
  ['workerd', 'memory', {}],
  ['workerd with nodejs_compat', 'memory', {}],
  ['edge-runtime', 'memory', {}],
  ['Deno', 'memory', {}],
  ['Bun', 'memory', {}],
])('in %s with %s', (name, store, options) => {
  test('all 200 responses are the same as on Node.js with Redis', async () => {
    const seen = await serveAndSee(name, store, options)
    expect(seen.map(withoutSeconds)).toEqual(expected.map(withoutSeconds))
    const off = seen.flatMap(({ seconds }, i) =>
      seconds.map((s, j) => Math.abs(s - Number(expected[i]?.seconds[j]))),
    )
    expect(Math.max(...off)).toBeLessThanOrEqual(TOLERANCE_SECONDS)
  })
})

const withoutSeconds = ({ seconds, ...others }: Seen) => ({ ...others, times: seconds.length })
