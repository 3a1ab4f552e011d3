import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseTuneArguments } from '../../../src/cli/tune/arguments.js'
import { TUNE_HELP } from '../../../src/cli/tune/help.js'
import { isLive, parseLiveArguments } from '../../../src/cli/tune/live-arguments.js'
import type { Proposal } from '../../../src/tuning/proposal.js'
import { logOf } from '../../tools/tune/trace.js'
import { scrapedApi } from '../../tools/tune/traces.js'
import { line, useLogFolder, write } from './replay-logs.js'
import { failureOf, mustRun } from './run-command.js'

const page = readFileSync(join(__dirname, '../../../docs/tune.md'), 'utf8')

useLogFolder()

/** Returns the lines of clients, each with this many requests in one minute. */
const logWith = (counts: readonly number[]) =>
  counts.map((count, i) => line(i, `192.0.2.${i}`).repeat(count)).join('')

async function tune(contents: string, ...args: readonly string[]): Promise<{ proposal: Proposal }> {
  return JSON.parse(await mustRun('tune', write('access.log', contents), '--window', '1h', ...args, '--json'))
}

test('docs/tune.md shows what the command prints for a log', async () => {
  write('access.log', logOf(scrapedApi(1)))
  const [, args = '', shown] = /```sh\nnpx headgate tune (.+)\n```\n\n```text\n([^`]+)```/.exec(page) ?? []
  expect(await mustRun('tune', ...args.split(' '))).toBe(shown)
})

test('the commands of docs/tune.md have the right arguments', () => {
  const commands = Array.from(page.matchAll(/^npx headgate tune (.+)$/gm), ([, args = '']) => args)
  expect(commands.length).toBeGreaterThan(2)
  const words = (text: string) =>
    Array.from(text.matchAll(/'([^']*)'|(\S+)/g), ([, quoted, bare]) => quoted ?? bare ?? '')
  const parse = (args: readonly string[]) =>
    isLive(args) ? parseLiveArguments(args, {}) : parseTuneArguments(args)
  for (const args of commands) expect(() => parse(words(args))).not.toThrow()
})

test('docs/tune.md and the help list the same options', () => {
  const listed = Array.from(page.matchAll(/^\| `--([\w-]+)`/gm), ([, name]) => name)
  expect(listed).toEqual(Array.from(TUNE_HELP.matchAll(/^ {2}--([\w-]+)/gm), ([, name]) => name))
  expect(listed.length).toBeGreaterThan(4)
})

test('the clients of a log, with their peaks, make the proposal', async () => {
  const { proposal } = await tune(logWith([3, 5, 4, 5, 3, 4, 200]))
  expect(proposal).toMatchObject({
    ...{ verdict: 'set', limit: 12, clients: 7, windowMs: 3_600_000 },
    apart: { clients: 1, largest: [{ identity: '192.0.2.6', peak: 200 }] },
    newlyDenied: { clients: 1 },
  })
  expect(proposal.quantiles.map(({ peak }) => peak)).toEqual([4, 200, 200, 200, 200])
})

test('the limit in force tells who was denied before', async () => {
  const { proposal } = await tune(logWith([3, 5, 4, 5, 3, 4, 200]), '--limit', '10')
  expect(proposal).toMatchObject({ verdict: 'keep', limit: 10, inForce: 10, apart: { denied: 1 } })
  expect(proposal.newlyDenied).toBeUndefined()
})

test('clients are counted by the key, and only on the routes that are named', async () => {
  const login = line(0, '192.0.2.1', 'POST /login HTTP/1.1', 'ada').repeat(3)
  const others = line(1, '192.0.2.1', 'GET / HTTP/1.1', 'ada').repeat(50)
  const { proposal } = await tune(login + others, '--key', 'user', '--only', 'POST /login')
  expect(proposal.crowd?.largest).toEqual([{ identity: 'user:ada', peak: 3, weight: 1, wasDenied: false }])
})

test('many clients with one peak are one entry, with their number', async () => {
  const addresses = Array.from({ length: 1500 }, (_, i) => line(i / 100, `198.18.${i >> 8}.${i & 255}`))
  const { proposal } = await tune(addresses.join('') + line(20, '192.0.2.1').repeat(60))
  expect(proposal.clients).toBe(1501)
  expect(proposal.crowd?.largest).toEqual([
    { identity: '198.18.0.0', peak: 1, weight: 1500, wasDenied: false },
  ])
  expect(proposal.apart).toMatchObject({ clients: 1, because: 'gap', largest: [{ identity: '192.0.2.1' }] })
  expect(proposal.quantiles.map(({ peak }) => peak)).toEqual([1, 1, 1, 1, 60])
})

test('the command to see the denials is a command line, whatever the names', async () => {
  const name = write("it's a log;rm", logWith([1, 1]))
  const printed = await mustRun('tune', name, '--window=1h', '--limit', '1', '--only', '/')
  expect(printed).toContain(
    `see also      npx headgate replay 'it'\\''s a log;rm' --window=1h --only / --limit 1\n`,
  )
})

test('names of clients cannot steer a terminal', async () => {
  const json = (i: number) =>
    `${JSON.stringify({ time: 1e12 + i, ip: '192.0.2.1', url: '/', id: '\u001b[2J\n' })}\n`
  write('app.log', json(0) + json(1))
  const printed = await mustRun('tune', 'app.log', '--window', '1m', '--key', 'field:id', '--limit', '1')
  expect(printed).not.toContain('\u001b')
})

test('a log without requests proposes nothing', async () => {
  const printed = await mustRun('tune', write('access.log', ''), '--window', '1m')
  expect(printed).toContain('proposal      none\nbecause       No client asked for anything')
  expect(printed).not.toContain('see also')
})

test.each([
  [['access.log'], 2, '--window is required, such as --window 1m'],
  [['--window', '1m'], 2, 'no log given'],
  [
    ['access.log', '--window', '1m', '--policy', 'token-bucket'],
    2,
    '--policy is an option of replay, not of tune',
  ],
  [['access.log', '--window', '1m', '--html=a.html'], 2, '--html is an option of replay, not of tune'],
  [['access.log', '--window', '1m', '--limit', '1', '--limit', '2'], 2, '--limit can be given only once'],
  [['access.log', '--window', '1m', '--limt', '1'], 2, 'unknown option "--limt"; did you mean --limit?'],
  [['missing.log', '--window', '1m'], 1, 'cannot read missing.log: there is no such file'],
] as const)('%j fails', async (args, code, message) => {
  const [failedWith, printed] = await failureOf('tune', ...args)
  expect([failedWith, printed]).toEqual([code, expect.stringContaining(message)])
})
