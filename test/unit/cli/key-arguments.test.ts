import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { consecutive } from 'headgate'
import { parseBlockArguments, parseKeyArguments } from '../../../src/cli/keys/arguments.js'
import { BLOCK_HELP, INSPECT_HELP, RELEASE_HELP } from '../../../src/cli/keys/help.js'
import { policyText } from '../../../src/cli/keys/policy-text.js'
import { readStoreUrl } from '../../../src/cli/keys/store-url.js'
import { policyFromSpec } from '../../../src/policies/policy-from-spec.js'
import type { PolicySpec } from '../../../src/policies/spec.js'

const page = readFileSync(join(__dirname, '../../../docs/inspect.md'), 'utf8')
const commands = Array.from(page.matchAll(/^npx headgate (inspect|release|block) (.+)$/gm))

test('the commands of docs/inspect.md have the right arguments', () => {
  expect(new Set(commands.map(([, name]) => name))).toEqual(new Set(['inspect', 'release', 'block']))
  for (const [, name, text = ''] of commands) {
    const parse = name === 'block' ? parseBlockArguments : parseKeyArguments
    const args = text.split(' ').map((arg) => arg.replace(/^'(.*)'$/, '$1'))
    expect(() => parse(args, { HEADGATE_STORE: 'redis://127.0.0.1' })).not.toThrow()
  }
})

test('docs/inspect.md and the help list the same options', () => {
  const namesIn = (text: string) =>
    Array.from(text.matchAll(/^(?:\| `| {2})--([\w-]+)/gm), ([, name]) => name)
  const listed = namesIn(page)
  expect(namesIn(BLOCK_HELP)).toEqual(listed)
  for (const help of [INSPECT_HELP, RELEASE_HELP])
    expect(namesIn(help)).toEqual(listed.filter((name) => name !== 'for'))
  expect(listed.length).toBeGreaterThan(5)
})

test('an identity stands for all its spellings, and a secret hides them', () => {
  const store = ['--store', 'redis://127.0.0.1']
  const { spellings, hasSecret, prefix } = parseKeyArguments(['203.0.113.7', ...store], {})
  expect([spellings[0], hasSecret, prefix]).toEqual(['203.0.113.7', false, 'hg'])
  const env = { HEADGATE_SECRET: 'a secret of 32 characters or more' }
  const secret = parseKeyArguments(['203.0.113.7', ...store], env)
  expect(secret.hasSecret).toBe(true)
  expect(
    secret.spellings.some((spelling) => spelling !== '203.0.113.7' && spellings.includes(spelling)),
  ).toBe(false)
})

test('an identity that begins with a dash follows --', () => {
  const args = ['--store', 'redis://127.0.0.1', '--', '--store']
  expect(parseKeyArguments(args, {}).identity).toBe('--store')
})

test.each([
  ['redis://127.0.0.1', 'redis://127.0.0.1', 0, '127.0.0.1'],
  ['redis://127.0.0.1:7000/5', 'redis://127.0.0.1:7000', 5, '127.0.0.1:7000'],
  [
    'rediss://ada:p%40ss@cache.example:6380/',
    'rediss://ada:p%40ss@cache.example:6380',
    0,
    'cache.example:6380',
  ],
  ['redis://[::1]:6379/0', 'redis://[::1]:6379', 0, '[::1]:6379'],
])('the URL %s', (text, url, database, place) => {
  expect(readStoreUrl(text)).toMatchObject({ url, database, place })
})

test.each<[PolicySpec, string]>([
  [{ kind: 'token-bucket', capacity: 100, intervalMs: 600 }, '100 in 1m (token-bucket)'],
  [{ kind: 'token-bucket', capacity: 7, intervalMs: 8571.428466796875 }, '7 in 1m (token-bucket)'],
  [
    { kind: 'token-bucket', capacity: 100_000, intervalMs: 0.864013671875 },
    '100,000 in 86401ms (token-bucket)',
  ],
  [{ kind: 'first-request-window', limit: 5, windowMs: 900_000 }, '5 in 15m (first-request)'],
  [{ kind: 'sliding-window', limit: 1000, windowMs: 3_600_000, slices: 10 }, '1,000 in 1h (sliding-window)'],
  [{ kind: 'consecutive', limit: 100 }, '100 in a row (consecutive)'],
  [{ kind: 'concurrency', limit: 50, ttlMs: 60_000 }, '50 at once (concurrency)'],
  [{ kind: 'quota', limit: 50, per: 'month', timeZone: 'UTC' }, '50 per month (quota)'],
])('%j is %s', (spec, text) => {
  expect(policyText(policyFromSpec(spec), false)).toBe(text)
})

test('a policy in words says that it has bans', () => {
  expect(policyText(consecutive({ limit: 3 }), true)).toBe('3 in a row (consecutive), with bans')
})
