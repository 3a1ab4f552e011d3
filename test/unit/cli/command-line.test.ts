import { runCommand } from '../../../src/cli/main.js'
import { FIXED, LIMIT } from './replay-logs.js'
import { failureOf, mustRun } from './run-command.js'

describe('wrong arguments', () => {
  test.each([
    [['replay', ...LIMIT], 'no log given: name a file, or write - for standard input'],
    [['replay', '-', '-', ...LIMIT], '- can be given only once'],
    [['replay', 'a.log', '--window', '1m'], '--limit is required, such as --limit 100'],
    [['replay', 'a.log', '--limit', '1'], '--window is required, such as --window 1m'],
    [['replay', 'a.log', '--limit', '0', ...FIXED], '--limit must be a whole number of at least 1, got "0"'],
    [['replay', 'a.log', '--limit', '1.5', ...FIXED], '--limit must be a whole number'],
    [['replay', 'a.log', '--limit', '1e3', ...FIXED], '--limit must be a whole number'],
    [['replay', 'a.log', '--limit', '1'.repeat(16), ...FIXED], '--limit must be a whole number'],
    [['replay', 'a.log', ...LIMIT, '--limit', '2'], '--limit 2 is given twice'],
    [['replay', 'a.log', ...LIMIT, ...Array(8).fill('--limit=9')], '--limit can be given at most 8 times'],
    [['replay', 'a.log', '--limit', '2', '--window', '60'], '--window must be a duration with a unit'],
    [['replay', 'a.log', ...LIMIT, '--windw', '1m'], 'unknown option "--windw"; did you mean --window?'],
    [['replay', 'a.log', ...LIMIT, '--zzzzzz'], 'unknown option "--zzzzzz" ('],
    [['replay', 'a.log', ...LIMIT, '-w', '1m'], 'unknown option "-w"'],
    [['replay', 'a.log', ...LIMIT, '--window'], "Option '--window <value>' argument missing ("],
    [
      ['replay', 'a.log', '--limit', '1', '--window', '1m', '--policy', 'fixd-window'],
      '--policy must be one of token-bucket, sliding-window, fixed-window, first-request, got "fixd-window"; did you mean fixed-window?',
    ],
    [
      ['replay', 'a.log', '--limit', '1', '--window', '9ms', '--policy', 'sliding-window'],
      '--policy sliding-window requires a --window of at least 10ms, got 9ms',
    ],
    [
      ['replay', 'a.log', '--limit', '999999999', '--window', '1ms'],
      '--limit 999999999 in --window 1ms is too fast for a token bucket; use --policy sliding-window, which supports any rate',
    ],
    [
      ['replay', 'a.log', '--limit', '1', '--window', '1m', '--suggest'],
      '--suggest requires --policy fixed-window or first-request: a token-bucket cannot be counted exactly for every limit',
    ],
    [['replay', 'a.log', ...LIMIT, '--key', 'address'], '--key must be ip, user, path or field:NAME'],
    [['replay', 'a.log', ...LIMIT, '--key', 'ip,field:'], '--key must be ip, user, path or field:NAME'],
    [['replay', 'a.log', ...LIMIT, '--only', 'login'], '--only must be a path, or a method and a path'],
    [['replay', 'a.log', ...LIMIT, '--html', 'a.log'], '--html must be a file that ends in .html'],
    [['replay', 'a.log', ...LIMIT, '--html', '.html'], '--html must be a file that ends in .html'],
  ])('%j', async (args, message) => {
    const [code, text] = await failureOf(...args)
    expect([code, text]).toEqual([2, expect.stringContaining(message)])
    expect(text).toMatch(/ \(for help, run headgate replay --help\)$/)
  })

  test.each([
    [[], 'no command given'],
    [['reply'], 'unknown command "reply"; did you mean replay?'],
    [['__proto__'], 'unknown command "__proto__"'],
  ])('%j names no command', async (args, message) => {
    expect(await failureOf(...args)).toEqual([2, `${message} (for help, run headgate --help)`])
  })
})

test.each([
  [['--help'], 'Usage: headgate <command>'],
  [['-h'], 'Usage: headgate <command>'],
  [['help'], 'Usage: headgate <command>'],
  [['replay', '--help'], 'Usage: headgate replay <log>...'],
  [['inspect', 'ada', '-h'], 'Usage: headgate inspect <identity>'],
  [['release', '--help'], 'Usage: headgate release <identity>'],
  [['block', '--help'], 'Usage: headgate block <identity>'],
])('%j shows the usage', async (args, usage) => {
  expect(await mustRun(...args)).toMatch(new RegExp(`^${usage.replace(/[.<>]/g, '\\$&')}`))
})

test('an output that nobody reads to its end is no failure; one that cannot be written is', async () => {
  await mustRun('--help')
  const before = process.exitCode
  const errors: string[] = []
  const stderr = jest
    .spyOn(process.stderr, 'write')
    .mockImplementation((text) => errors.push(String(text)) > 0)
  const stdout = jest.spyOn(process.stdout, 'write').mockReturnValue(true)
  const listeners = process.stdout.listeners('error')
  await runCommand(['--help'])
  const report = process.stdout.listeners('error').find((each) => !listeners.includes(each)) as (
    error: object,
  ) => void
  try {
    report({ code: 'EPIPE', message: 'closed' })
    expect([errors, process.exitCode]).toEqual([[], before])
    report({ code: 'ENOSPC', message: 'full\n' })
    expect(errors).toEqual([expect.stringMatching(/^headgate: cannot write the output: full\\u\S+\n$/)])
    expect(process.exitCode).toBe(1)
  } finally {
    process.exitCode = before
    for (const mock of [stderr, stdout]) mock.mockRestore()
    process.stdout.off('error', report)
  }
})
