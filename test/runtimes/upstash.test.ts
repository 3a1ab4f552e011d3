import { useUpstash } from '../integration/upstash/use-upstash.js'
import type { RuntimeName } from './runtimes.js'
import { type Running, startIn } from './start-in.js'

const used = useUpstash()
let running: Running | undefined
afterEach(() => running?.close())

const EDGE: readonly RuntimeName[] = ['workerd', 'edge-runtime', 'Deno', 'Bun']

test.each(EDGE)('in %s, 300 requests at once get exactly the limit, and each is sent once', async (name) => {
  running = await startIn(name, `${__dirname}/apps/upstash.ts`, {
    env: { URL: used.rest.url, TOKEN: used.rest.token },
  })
  const { url } = running
  const statuses = await Promise.all(
    Array.from({ length: 300 }, async () => (await fetch(`${url}/ada`)).status),
  )
  const count = (status: number) => statuses.filter((each) => each === status).length
  expect([count(200), count(429)]).toEqual([100, 200])
  const charges = used.rest.requests
    .flatMap(({ commands }) => commands)
    .filter(([word]) => word === 'evalsha')
  expect(charges.length).toBeLessThanOrEqual(300)
})
