import { pageModule } from '../../../support/page-module.js'

const format = pageModule<{
  shortened(text: string, max?: number): string
  counted(value: number, noun: string): string
  rate(value: number): string
  percent(share: number): string
  duration(ms: number | null): string
  age(ms: number): string
  moment(atMs: number, nowMs: number): string
  withTimes(sentence: string, nowMs: number): string
  policy(limit: { kind: string; limit: number; windowMs: number | null }): string
}>('format.js')
const { valueTicks, timeTicks } = pageModule<{
  valueTicks(largest: number, most?: number): number[]
  timeTicks(fromMs: number, toMs: number, most: number): number[]
}>('axis.js')

test('a long text loses its middle, between whole characters', () => {
  const texts = ['acme', 'x'.repeat(60), `a${'😀'.repeat(60)}z`]
  expect(texts.map((text) => format.shortened(text))).toEqual([
    'acme',
    'x'.repeat(60),
    `a${'😀'.repeat(28)}…${'😀'.repeat(28)}z`,
  ])
  expect(format.shortened('0123456789', 5)).toBe('01…89')
})

test('numbers are short, and never say none of what there is', () => {
  expect([0, 0.004, 0.09, 0.096, 4.25, 9.94, 9.96, 12.4, 1234.5].map(format.rate)).toEqual([
    '0',
    '<0.01',
    '0.09',
    '0.1',
    '4.3',
    '9.9',
    '10',
    '12',
    '1,235',
  ])
  expect([0, 0.0001, 0.01, 0.5, 0.995, 0.9999, 1].map(format.percent)).toEqual([
    '0%',
    '<1%',
    '1%',
    '50%',
    '99%',
    '99%',
    '100%',
  ])
  expect([format.counted(1, 'client'), format.counted(1200, 'client'), format.counted(2, 'address')]).toEqual(
    ['1 client', '1,200 clients', '2 addresses'],
  )
})

test('times have two units, ages one', () => {
  expect([null, 12, 1500, 60_000, 61_000, 5_400_000, 90_000_000].map(format.duration)).toEqual([
    'never by itself',
    '12 ms',
    '2 s',
    '1 min',
    '1 min 1 s',
    '1 h 30 min',
    '1 d 1 h',
  ])
  expect([-500, 0, 59_999, 60_000, 7_199_999, 172_800_000].map(format.age)).toEqual([
    '0 s',
    '0 s',
    '59 s',
    '1 min',
    '1 h',
    '2 d',
  ])
})

test('the times in a sentence are on the clock of the reader, with the date if it is another day', () => {
  const nowMs = new Date(2026, 10, 29, 12, 30).getTime()
  const today = new Date(2026, 10, 29, 12, 19).getTime()
  const before = new Date(2026, 10, 28, 23, 5).getTime()
  expect(format.withTimes(`under attack since {${today}}: 9.8 a second`, nowMs)).toBe(
    'under attack since 12:19: 9.8 a second',
  )
  expect(format.withTimes(`{${before}} to {${today}}`, nowMs)).toBe('28 Nov, 23:05 to 12:19')
  expect(format.withTimes('\u202egnp.exe is denied since \u0007', nowMs)).toBe(
    '\\u{202e}gnp.exe is denied since \\u{7}',
  )
  expect(format.withTimes('{} {x} {12345678901234567890}', nowMs)).toBe('{} {x} {12345678901234567890}')
})

test('a limit is what it allows, and how', () => {
  expect(
    [
      { kind: 'token-bucket', limit: 1000, windowMs: 60_000 },
      { kind: 'ban-sliding-window', limit: 5, windowMs: 60_000 },
      { kind: 'concurrency', limit: 10, windowMs: null },
      { kind: '', limit: 3, windowMs: 1000 },
    ].map(format.policy),
  ).toEqual(['1,000 per 1 min, token bucket', '5 per 1 min, sliding window, bans', '10 at once', '3 per 1 s'])
})

test('axes have few, round marks', () => {
  expect(valueTicks(1)).toEqual([0, 0.5, 1])
  expect(valueTicks(97)).toEqual([0, 50])
  expect(valueTicks(101)).toEqual([0, 50, 100])
  expect(valueTicks(0.35)).toEqual([0, 0.1, 0.2, 0.3])
  const hour = new Date(2026, 10, 29, 12).getTime()
  const minutes = (ms: number) => (ms - hour) / 60_000
  expect(timeTicks(hour + 90_000, hour + 990_000, 8).map(minutes)).toEqual([2, 4, 6, 8, 10, 12, 14, 16])
  expect(timeTicks(hour, hour + 86_400_000, 12).map((ms) => minutes(ms) / 60)).toEqual(
    [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24].slice(0, 13),
  )
  expect(timeTicks(hour, hour, 5)).toEqual([hour])
})
