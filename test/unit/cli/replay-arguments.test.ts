import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseReplayArguments } from '../../../src/cli/replay/arguments.js'
import { REPLAY_HELP } from '../../../src/cli/replay/command.js'

const page = readFileSync(join(__dirname, '../../../docs/replay.md'), 'utf8')
const commands = Array.from(page.matchAll(/^(?:.*\| )?npx headgate replay (.+)$/gm), ([, args = '']) =>
  Array.from(args.matchAll(/'([^']*)'|(\S+)/g), ([, quoted, word = '']) => quoted ?? word),
)

test('the commands of docs/replay.md have the right arguments', () => {
  expect(commands.length).toBeGreaterThan(3)
  for (const args of commands) expect(() => parseReplayArguments(args)).not.toThrow()
})

test('docs/replay.md and the help list the same options', () => {
  const listed = Array.from(page.matchAll(/^\| `--([\w-]+)`/gm), ([, name]) => name)
  const inHelp = Array.from(REPLAY_HELP.matchAll(/^ {2}--([\w-]+)/gm), ([, name]) => name)
  expect(listed).toEqual(inHelp)
  expect(listed.length).toBeGreaterThan(6)
})

test('limit and window make the policy of rateLimit', () => {
  const { policies } = parseReplayArguments(['a.log', '--limit', '100', '--window', '1m'])
  expect(policies).toHaveLength(1)
  expect(policies[0]).toMatchObject({
    spec: { kind: 'token-bucket' },
    limit: 100,
    windowMs: 60_000,
    name: '100-in-1min',
  })
})
