import { pageModule } from '../../../support/page-module.js'

interface Row {
  readonly hasSettings: boolean
  readonly longestBlockMs: number
  readonly isOverloadGuard?: boolean
}

const { waysOf, lengthsIn } = pageModule<{
  waysOf(row: Row, isNetwork: boolean): { effects: readonly string[]; why: string }
  lengthsIn(row: Row): readonly (readonly [string, number | null])[]
}>('ways.js')
const { isNetwork } = pageModule<{ isNetwork(text: string): boolean }>('format.js')

const HOUR_MS = 3_600_000

test.each<readonly [boolean, number, boolean, readonly string[], RegExp]>([
  [true, 0, false, ['release', 'block', 'exempt', 'raise'], /^$/],
  [true, HOUR_MS, true, ['release', 'block', 'exempt', 'raise'], /^$/],
  [
    false,
    HOUR_MS,
    false,
    ['release', 'block'],
    /^To exempt clients.* add settings: sharedSettings\(store\) to the limiter's options\.$/,
  ],
  [false, HOUR_MS, true, ['release'], /^To exempt clients, raise limits or block networks/],
  [false, 0, false, ['release'], /^This limiter has no ban, so it cannot block clients\. To exempt/],
])(
  'with settings: %j, a longest ban of %d ms, of a network: %j',
  (hasSettings, longestBlockMs, of, effects, why) => {
    const ways = waysOf({ hasSettings, longestBlockMs }, of)
    expect(ways).toEqual({ effects, why: expect.stringMatching(why) })
  },
)

test('clients of an overload guard can neither be released nor blocked', () => {
  const row = { hasSettings: false, longestBlockMs: 0, isOverloadGuard: true }
  expect([false, true].map((of) => waysOf(row, of).effects)).toEqual([[], []])
  expect(waysOf(row, false).why).toMatch(/^An overload guard keeps no account of clients/)
})

test.each<readonly [number, readonly string[]]>([
  [90_000, ['1 min 30 s']],
  [600_000, ['10 minutes']],
  [HOUR_MS, ['10 minutes', '1 hour']],
  [2 * HOUR_MS, ['10 minutes', '1 hour', '2 h']],
  [30 * 24 * HOUR_MS, ['10 minutes', '1 hour', '1 day', '7 days', '30 d']],
])('a ban of at most %d ms can last %j', (longestBlockMs, names) => {
  const lengths = lengthsIn({ hasSettings: false, longestBlockMs })
  expect(lengths.map(([name]) => name)).toEqual(names)
  expect(lengths.at(-1)?.[1]).toBe(longestBlockMs)
})

test('an override can last longer than a ban, and have no end', () => {
  expect(lengthsIn({ hasSettings: true, longestBlockMs: 600_000 }).at(-1)).toEqual(['indefinitely', null])
})

test('a text is a network if it is an address or a range, in either version of IP', () => {
  const texts = [
    '203.0.113.7',
    '203.0.113.0/24',
    ' 2001:db8::/48',
    '::1',
    'ada',
    'a:b',
    '1.2.3',
    'key:ab:',
    '',
  ]
  expect(texts.filter(isNetwork)).toEqual(['203.0.113.7', '203.0.113.0/24', ' 2001:db8::/48', '::1'])
})
