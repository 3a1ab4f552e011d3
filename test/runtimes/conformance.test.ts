import type { Conformance } from './conformance-app.js'
import type { RuntimeName } from './runtimes.js'
import { type Running, startIn } from './start-in.js'

/** Those in which headgate/testing runs. */
const RUNNING: readonly RuntimeName[] = ['Node.js', 'workerd with nodejs_compat', 'Deno', 'Bun']

let running: Running | undefined
afterEach(() => running?.close())

test.each(RUNNING)('memoryStore keeps the store contract in %s', async (name) => {
  running = await startIn(name, `${__dirname}/apps/memory-conformance.ts`)
  const { passed, failed } = (await (await fetch(running.url)).json()) as Conformance
  expect(failed).toEqual([])
  expect(passed).toBeGreaterThan(390)
})
