import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '../../../src/cli/main.js'

const { version } = JSON.parse(readFileSync(join(__dirname, '../../../package.json'), 'utf8'))

/** Runs a command line in this process. Returns its exit code and what it writes. */
async function run(...args: readonly string[]) {
  const written = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    jest.spyOn(process[name], 'write').mockImplementation((text) => {
      written[name] += text
      return true
    })
  const code = await runCommand(args)
  jest.restoreAllMocks()
  return { code, ...written }
}

test.each(['--version', '-v', 'version'])(
  'headgate %s prints the version, and nothing else',
  async (word) => {
    expect(await run(word)).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  },
)

test.each([
  ['', ['--help'], ['-h'], ['help'], ['help', 'help'], ['version', '--help'], ['help', '--help']],
  ['replay ', ['replay', '--help'], ['replay', '-h'], ['help', 'replay'], ['--help', 'replay']],
  ['inspect ', ['inspect', '--help'], ['inspect', 'ada', '--help'], ['help', 'inspect']],
  ['release ', ['release', '--help'], ['help', 'release']],
  ['block ', ['block', '--help'], ['-h', 'block']],
])('help about %j is printed however it is asked for', async (command, ...lines) => {
  const usage = expect.stringMatching(new RegExp(`^Usage: headgate ${command}<`))
  for (const args of lines as string[][])
    expect([args, await run(...args)]).toEqual([args, { code: 0, stdout: usage, stderr: '' }])
})

test.each<[string[], string]>([
  [[], 'no command given (for help, run headgate --help)'],
  [['reply'], 'unknown command "reply"; did you mean replay? (for help, run headgate --help)'],
  [['versoin'], 'unknown command "versoin"; did you mean version? (for help, run headgate --help)'],
  [['help', 'x'], 'unknown command "x" (for help, run headgate --help)'],
  [['constructor'], 'unknown command "constructor" (for help, run headgate --help)'],
  [['replay', '-v'], 'unknown option "-v" (for help, run headgate replay --help)'],
])('%j is a wrong command line', async (args, message) => {
  const { code, stdout, stderr } = await run(...args)
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr.replace(/^headgate: |\n$/g, '')).toEqual(message)
})
