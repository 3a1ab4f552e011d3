import { createLimiter } from '../../limiter/create-limiter.js'
import { fixedWindow } from '../../policies/fixed-window.js'
import { expectEqual } from '../assertions.js'
import { LONG } from './sample-policies.js'
import { chargeAll, forgetAll, keyedPolicies, part, remainingOf } from './store-calls.js'
import { type Bodies, casesOf, type StoreCase } from './store-case.js'
import type { Capabilities } from './store-under-test.js'

/** Keys that every store must keep apart: printable, without blanks, at most 250 bytes. */
const PRINTABLE = [
  'key',
  'Key',
  'KEY',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'hg:3:login:tb:{192.0.2.7}',
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

const shorten = (key: string) => (key.length <= 60 ? key : `${key.slice(0, 40)}… (${key.length})`)

const distinct = (which: string, keys: readonly string[]): Bodies => ({
  [`the awkward keys of ${which} are all distinct`]: async ({ store }) => {
    const policy = fixedWindow({ limit: 100, window: LONG })
    await chargeAll(
      store,
      keys.map((key, i) => [part(key, policy, i + 1)]),
    )
    const byKey = (left: readonly (number | undefined)[]) => keys.map((key, i) => [shorten(key), left[i]])
    const taken = byKey(keys.map((_key, i) => 99 - i))
    const left = byKey(await remainingOf(store, policy, keys))
    expectEqual('remaining of each key, charged with its number', left, taken)
    await forgetAll(store, keyedPolicies(policy, ...keys.filter((_key, i) => i % 2 === 0)))
    const half = byKey(keys.map((_key, i) => (i % 2 === 0 ? 100 : 99 - i)))
    const leftOfHalf = byKey(await remainingOf(store, policy, keys))
    expectEqual('remaining once every other key is forgotten', leftOfHalf, half)
  },
})

const behindLimiter: Bodies = {
  'awkward values of clients are all distinct behind a limiter': async ({ store }) => {
    const policy = fixedWindow({ limit: 100, window: LONG })
    const limiter = createLimiter<string>({ store, policy, key: (value) => value, timeout: '20s' })
    const remaining: number[] = []
    for (const [i, value] of VALUES.entries()) await limiter.charge(value, { cost: i + 1 })
    for (const value of VALUES) remaining.push((await limiter.peek(value)).remaining)
    const expected = VALUES.map((_value, i) => 99 - i)
    expectEqual('remaining of each value, charged with its number', remaining, expected)
  },
}

/** Keys: none is mistaken for another, however alike. */
export function keyCases({ anyKey }: Capabilities): StoreCase[] {
  return casesOf('', {
    ...distinct('printable', PRINTABLE),
    ...(anyKey && distinct('all', ANY)),
    ...behindLimiter,
  })
}
