import { useUpstash } from '../../integration/upstash/use-upstash.js'
import { expectSame, responsesIn, responsesOf } from '../same-responses.js'
import type { Running } from '../start-in.js'
import { optionsFor } from '../use-upstash.js'
import { startNext } from './start-next.js'

const upstash = useUpstash()
let next: Running
beforeAll(async () => {
  const { env } = optionsFor(upstash)
  next = await startNext(`${__dirname}/../apps/limited.ts`, `${__dirname}/../stores/upstash.ts`, env)
}, 300_000)
afterAll(() => next?.close())

test('in edge middleware with Upstash, a limiter by IP address denies the third request of a client', async () => {
  const statuses: number[] = []
  for (let i = 0; i < 3; i++) {
    const headers = { 'x-forwarded-for': '192.0.2.1', 'x-client': 'ada' }
    statuses.push((await fetch(`${next.url}/codes/behind-middleware`, { headers })).status)
  }
  expect(statuses).toEqual([404, 404, 429])
  const sent = JSON.stringify(upstash.rest.requests.map(({ commands }) => commands))
  expect(sent).toContain('middleware')
})

test('in an edge route with Upstash, all responses are those of Node.js', async () => {
  expectSame(await responsesOf(next), await responsesIn('Node.js', 'memory'))
})
