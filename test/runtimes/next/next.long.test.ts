import { expectSame, responsesIn, responsesOf } from '../same-responses.js'
import type { Running } from '../start-in.js'
import { startNext } from './start-next.js'

let next: Running
beforeAll(async () => {
  next = await startNext(`${__dirname}/../apps/limited.ts`, `${__dirname}/../stores/memory.ts`)
}, 300_000)
afterAll(() => next?.close())

test('in edge middleware, a limiter by IP address denies the third request of a client', async () => {
  const statuses: Record<string, number[]> = {}
  for (const client of ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2']) {
    const headers = { 'x-forwarded-for': client, 'x-client': `from ${client}` }
    const { status } = await fetch(`${next.url}/codes/behind-middleware`, { headers })
    statuses[client] = [...(statuses[client] ?? []), status]
  }
  expect(statuses).toEqual({ '192.0.2.1': [404, 404, 429], '192.0.2.2': [404] })
})

test('the handler of the page limits by IP address in an edge route', async () => {
  const headers = { 'x-forwarded-for': '192.0.2.7' }
  const responses = [
    await fetch(`${next.url}/hello`, { headers }),
    await fetch(`${next.url}/hello`, { headers }),
    await fetch(`${next.url}/hello`, { headers: { 'x-forwarded-for': '192.0.2.8' } }),
  ]
  expect(await responses[0]?.json()).toEqual({ hello: 'world' })
  const left = responses.map((response) => response.headers.get('x-ratelimit-remaining'))
  expect(left).toEqual(['99', '98', '99'])
})

test('in an edge route, all responses are those of Node.js', async () => {
  expectSame(await responsesOf(next), await responsesIn('Node.js', 'memory'))
})
