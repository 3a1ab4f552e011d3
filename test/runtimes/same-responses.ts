import type { RuntimeName, StartOptions } from './runtimes.js'
import { type Running, startIn } from './start-in.js'
import { type Seen, seenBy } from './traffic.js'

/** How far a time may be off: times are whole seconds, and the runs that are compared take some each. */
const TOLERANCE_SECONDS = 5

/** Serves the application with a store of `stores/`, and returns what it responds to the traffic. */
export async function responsesIn(name: RuntimeName, store: string, options?: StartOptions): Promise<Seen[]> {
  const given = { ...options, store: `${__dirname}/stores/${store}.ts` }
  return responsesOf(await startIn(name, `${__dirname}/apps/limited.ts`, given))
}

/** Returns what a server responds to the traffic, and closes it. */
export async function responsesOf(running: Running): Promise<Seen[]> {
  try {
    return await seenBy(running.url)
  } finally {
    await running.close()
  }
}

/** Compares all responses: their times to within five seconds, and all else exactly. */
export function expectSame(seen: readonly Seen[], expected: readonly Seen[]): void {
  expect(seen.map(withoutSeconds)).toEqual(expected.map(withoutSeconds))
  const pairs = seen.flatMap(({ seconds }, i) => seconds.map((each, j) => [each, expected[i]?.seconds[j]]))
  const differences = pairs.map(([one, other]) => Math.abs(Number(one) - Number(other)))
  expect(Math.max(...differences)).toBeLessThanOrEqual(TOLERANCE_SECONDS)
}

const withoutSeconds = ({ seconds, ...others }: Seen) => ({ ...others, times: seconds.length })
