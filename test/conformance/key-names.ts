import { createLimiter, fixedWindow } from 'headgate'
import { LONG } from './sample-policies.js'
import { keyedPolicies, part, remainingOf } from './store-calls.js'
import type { Capabilities, Using } from './store-under-test.js'

/** Keys that every store must keep apart: printable, without blanks, at most 250 bytes. */
const PRINTABLE = [
  'key',
  'Key',
  'KEY',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'hg:1:login:token-bucket-5-1000:{192.0.2.7}',
  '{tag}:a',
  '{tag}:b',
  'a:b',
  'a::b',
  '%',
  '_',
  '*',
  '?',
  '[a-z]',
  '\\',
  '\\n',
  "'",
  "''",
  '"',
  '`',
  "';DELETE",
  '$1',
  '0',
  '-0',
  '1e3',
  'null',
  'undefined',
  `${'x'.repeat(249)}X`,
  'x'.repeat(250),
]

/** Keys for stores that take any string. */
const ANY = [
  ...PRINTABLE,
  '',
  ' ',
  'a',
  'a ',
  ' a',
  'a b',
  'a\tb',
  'a\nb',
  'a\r\nb',
  'a\0b',
  'a\0',
  'jos\u00e9',
  'jose\u0301',
  'jose',
  '日本語',
  '🙂',
  '👩‍👩‍👧',
  '👩‍👩‍👦',
  '\u202eright to left',
  '\ud800',
  "'; DROP TABLE headgate; --",
  'y'.repeat(10_240),
  `${'y'.repeat(10_240)}z`,
]

/** Values of a client's that a limiter makes keys of, so that no store sees them as they are. */
const VALUES = ANY.filter((key) => key.length <= 1024 && !key.includes('\0') && key.isWellFormed())

/** Keys: none is mistaken for another, however alike. */
export function testKeys(using: Using, { anyKey }: Capabilities): void {
  test.each([['printable', PRINTABLE] as const, ...(anyKey ? [['all', ANY] as const] : [])])(
    'the awkward keys of %s are all distinct',
    (_which, keys) =>
      using(async ({ store }) => {
        const policy = fixedWindow({ limit: 100, window: LONG })
        await store.charge(keys.map((key, i) => [part(key, policy, i + 1)]))
        expect(await remainingOf(store, policy, keys)).toEqual(keys.map((_key, i) => 99 - i))
        await store.forget(keyedPolicies(policy, ...keys.filter((_key, i) => i % 2 === 0)))
        const left = keys.map((_key, i) => (i % 2 === 0 ? 100 : 99 - i))
        expect(await remainingOf(store, policy, keys)).toEqual(left)
      })(),
  )

  test(
    'awkward values of clients are all distinct behind a limiter',
    using(async ({ store }) => {
      const policy = fixedWindow({ limit: 100, window: LONG })
      const limiter = createLimiter<string>({ store, policy, key: (value) => value, timeoutMs: 20_000 })
      const remaining: number[] = []
      for (const [i, value] of VALUES.entries()) await limiter.charge(value, { cost: i + 1 })
      for (const value of VALUES) remaining.push((await limiter.peek(value)).remaining)
      expect(remaining).toEqual(VALUES.map((_value, i) => 99 - i))
    }),
  )
}
