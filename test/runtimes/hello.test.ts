import { RUNTIMES, type RuntimeName } from './runtimes.js'
import { type Running, startIn } from './start-in.js'

let running: Running | undefined
afterEach(() => running?.close())

test.each(Object.keys(RUNTIMES) as RuntimeName[])('%s serves an application', async (name) => {
  running = await startIn(name, `${__dirname}/apps/hello.ts`, { env: { PLACE: name } })
  const response = await fetch(running.url)
  expect(await response.text()).toBe(`Hello from ${name}`)
})
