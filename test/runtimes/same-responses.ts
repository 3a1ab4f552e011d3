import type { RuntimeName, StartOptions } from './runtimes.js'
import { type Running, startIn } from './start-in.js'
import { type Seen, seenBy } from './traffic.js'

/** Serves the application with a store of `stores/`, and returns what it responds to the traffic. */
export async function responsesIn(name: RuntimeName, store: string, options?: StartOptions): Promise<Seen[]> {
  const given = { ...options, store: `${__dirname}/stores/${store}.ts` }
  const app = options?.durableObjects === undefined ? 'limited' : 'limited-worker' // which exports the class
  return responsesOf(await startIn(name, `${__dirname}/apps/${app}.ts`, given))
}

/** Returns what a server responds to the traffic, and closes it. */
export async function responsesOf(running: Running): Promise<Seen[]> {
  try {
    return await seenBy(running.url)
  } finally {
    await running.close()
  }
}

/**
 * Compares all responses: their times to within the duration of the longer run and two seconds for rounding, and
 * all else exactly. No unit comes back within an hour, so nothing else depends on how fast a run was.
 */
export function expectSame(seen: readonly Seen[], expected: readonly Seen[]): void {
  expect(seen.map(withoutTimes)).toEqual(expected.map(withoutTimes))
  const tolerance = 2 + Math.max(...[...seen, ...expected].map(({ atSeconds }) => atSeconds))
  const pairs = seen.flatMap(({ seconds }, i) => seconds.map((each, j) => [each, expected[i]?.seconds[j]]))
  const differences = pairs.map(([one, other]) => Math.abs(Number(one) - Number(other)))
  expect(Math.max(...differences)).toBeLessThanOrEqual(tolerance)
}

const withoutTimes = ({ seconds, atSeconds, ...others }: Seen) => ({ ...others, times: seconds.length })
