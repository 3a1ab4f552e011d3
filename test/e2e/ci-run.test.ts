import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** Stands for npm: `npm test` leaves results as jest does, and FAILS names the commands that fail. */
const NPM = `#!/usr/bin/env bash
for arg in "$@"; do
  if [[ $arg == --outputFile=* ]]; then echo "$RESULTS" >"\${arg#*=}"; fi
done
if [[ "$*" == 'run docs' ]]; then echo 'dead link in a.md'; echo '1 pages, 2 links, 0 broken'; fi
[[ " $FAILS " != *" \${2:-$1} "* ]]
`

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'headgate-ci-'))
  cpSync(resolve(__dirname, '../../.ci'), join(folder, '.ci'), { recursive: true })
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'bin/npm'), NPM)
  chmodSync(join(folder, 'bin/npm'), 0o755)
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Runs .ci/run, where the npm commands in `fails` fail. Returns its exit code and its last lines. */
function runCi(fails: string, failedTests = 0) {
  const results = JSON.stringify({
    numPassedTests: 7,
    numFailedTests: failedTests,
    success: failedTests === 0,
  })
  const env = { ...process.env, PATH: `${folder}/bin:${process.env.PATH}`, FAILS: fails, RESULTS: results }
  const { status, stdout } = spawnSync(join(folder, '.ci/run'), { env, encoding: 'utf8' })
  return { status, lines: stdout.trimEnd().split('\n').slice(-2) }
}

test('CI passes where the checks, the tests and the docs site do', () => {
  expect(runCi('')).toEqual({ status: 0, lines: ['1 pages, 2 links, 0 broken', '7 passed, 0 failed'] })
})

test('CI fails, and says why, where the docs site cannot be built', () => {
  const why = 'The docs site is broken: npm run docs failed, as above.'
  expect(runCi('docs')).toEqual({ status: 1, lines: [why, '7 passed, 1 failed'] })
})

test('CI builds the site where tests fail, too, and counts both', () => {
  expect(runCi('--', 2)).toMatchObject({ status: 1, lines: [expect.anything(), '7 passed, 2 failed'] })
  expect(runCi('-- docs', 2)).toMatchObject({ status: 1, lines: [expect.anything(), '7 passed, 3 failed'] })
})

test('CI fails where a step before the tests does', () => {
  expect(runCi('check').lines.at(-1)).toBe('0 passed, 1 failed')
})
