import { Session } from 'node:inspector/promises'
import { fileURLToPath } from 'node:url'

const SRC = fileURLToPath(new URL('../../../src/', import.meta.url))

/** One function that was called. */
interface Called {
  /** The file's path within `src`. */
  readonly file: string
  readonly name: string
  readonly count: number
}

/** The functions of `src` that ran, in no order. */
export type Path = readonly Called[]

/**
 * Returns the calls of functions in `src` while `run` runs, as V8 counts them. Inlined calls count as well.
 */
export async function callsOf(run: () => Promise<void>): Promise<Path> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await session.post('Profiler.takePreciseCoverage') // what ran before does not count
  await run()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  session.disconnect()
  return result
    .filter(({ url }) => url.startsWith('file:') && fileURLToPath(url).startsWith(SRC))
    .flatMap(({ url, functions }) =>
      functions.flatMap(({ functionName, ranges }) => {
        const count = ranges[0]?.count ?? 0
        const file = fileURLToPath(url).slice(SRC.length)
        return count === 0 || functionName === '__name'
          ? []
          : [{ file, name: functionName || '(anonymous)', count }]
      }),
    )
}
