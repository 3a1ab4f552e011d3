import { execFile } from 'node:child_process'
import { join, relative, resolve } from 'node:path'
import config from '../../../jest.config.js'

const ROOT = resolve(__dirname, '../../..')
const FIXTURE = relative(ROOT, join(__dirname, 'fixture'))
const LACKING = ['all-lack', 'one-lacks']

/** Runs files of the fixture as `npm test` runs tests. */
function runJest(names: readonly string[], ci: 'true' | 'false') {
  const { projects: [project] = [], reporters } = config
  const own = { ...(project as object), rootDir: ROOT, reporters, testMatch: ['**/fixture/*.ts'] }
  const files = names.map((name) => `${FIXTURE}/${name}.ts`)
  const args = [
    join(ROOT, 'node_modules/jest/bin/jest.js'),
    '--config',
    JSON.stringify(own),
    '--runInBand',
    ...files,
  ]
  return new Promise<{ code: unknown; output: string }>((done) => {
    execFile(process.execPath, args, { cwd: ROOT, env: { ...process.env, CI: ci } }, (error, _, stderr) =>
      done({ code: error?.code ?? 0, output: stderr }),
    )
  })
}

test('tests that lack a server are left out, and the run ends with their names and how to include them', async () => {
  const { code, output } = await runJest(LACKING, 'false')
  expect(output).toContain(`3 tests were left out, since what they need is not installed. To include them:

Run: sudo apt-get update && sudo apt-get install -y --no-install-recommends a-server (or set A_URL)
  ${FIXTURE}/all-lack.ts: all 2

Install no-other-server.
  ${FIXTURE}/one-lacks.ts: lacks another server
`)
  expect(output).toContain('Tests:       3 skipped, 1 passed, 4 total')
  expect(output).not.toContain('●')
  expect(code).toBe(0)
})

test('in CI, tests that lack a server fail', async () => {
  const { code, output } = await runJest(LACKING, 'true')
  expect(output).toContain('Tests:       3 failed, 1 passed, 4 total')
  expect(output).not.toContain('left out')
  expect(code).toBe(1)
})

test('a test that fails for another reason fails beside those that are left out', async () => {
  const { code, output } = await runJest(['one-lacks', 'fails'], 'false')
  expect(output).toContain('Tests:       1 failed, 1 skipped, 1 passed, 3 total')
  expect(code).toBe(1)
})
