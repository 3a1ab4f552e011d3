import { sendAtOnce, statusAt } from '../../runtimes/at-once.js'
import type { Running } from '../../runtimes/start-in.js'
import { until } from '../../support/servers/wait.js'
import { startServed } from './served.js'

let running: Running
beforeAll(async () => {
  running = await startServed()
})
afterAll(() => running?.close())

const statusOf = (path: string) => statusAt(running.url + path)
const atOnce = (count: number, path: string) => sendAtOnce(count, running.url + path)

/** Returns how many clients of a limit the objects keep. */
async function clientsOf(limit: string): Promise<number> {
  return (await fetch(`${running.url}/rows?key=${limit}`)).json()
}

test('the alarm of an object goes off, and removes the states that have expired', async () => {
  // The first test: once an object has an alarm, in an hour, it sets no other.
  await statusOf(`/behind?ms=${3_600_000 - 1500}`) // an alarm comes an hour later, by the time of the object
  expect(await statusOf('/brief?key=alarm')).toBe(200)
  expect(await clientsOf('brief')).toBe(1)
  await statusOf('/behind?ms=0')
  await until('the alarm has removed the state', async () => (await clientsOf('brief')) === 0)
})

test('a request that does not count is refunded after its response', async () => {
  for (let i = 0; i < 6; i++) expect(await atOnce(10, '/failed')).toEqual({ 200: 10 })
  expect(await atOnce(20, '/failed?fail=1')).toEqual({ 500: 20 })
  expect(await statusOf('/failed')).toBe(429)
})

test('settings in an object are changed by a Worker, and come into force', async () => {
  expect(await atOnce(30, '/settings')).toEqual({ 200: 20, 429: 10 })
  expect(await statusOf('/change')).toBe(200)
  await until('the limit is 25', async () => (await statusOf('/settings')) === 200)
  expect((await atOnce(20, '/settings'))[200]).toBe(4)
})
