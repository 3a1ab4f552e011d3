import { NEWEST, NODES, nodeOf, PROMISED } from './package/nodes.js'
import { mustRun, ROOT } from './package/run.js'

/** The tests of connections that end early. Each major version of Node.js ends them differently. */
const FILES = ['concurrency', 'early-abort', 'disconnected', 'adapters/in-flight'].map(
  (name) => `test/e2e/${name}.test.ts`,
)

const OTHERS = [...PROMISED, NEWEST].filter((major) => !NODES.includes(major))

test.each(OTHERS)(
  'on Node.js %s, requests whose connection ends early are charged and released as on the running version',
  async (major) => {
    const { path } = await nodeOf(major)
    await mustRun(path, ['node_modules/jest/bin/jest.js', '--maxWorkers=1', ...FILES], ROOT)
  },
  240_000,
)
