import { readTimeZone } from '../../../src/util/time-zone.js'

const DAY_MS = 86_400_000
const zoneOf = (name: unknown) => readTimeZone('someone', 'timeZone', name)
const startOf = (zone: string, date: string) =>
  new Date(zoneOf(zone).startOfDayMs(Date.parse(date) / DAY_MS)).toISOString()

test.each([
  ['UTC', '2026-03-29', '2026-03-29T00:00:00.000Z'],
  ['etc/utc', '2026-03-29', '2026-03-29T00:00:00.000Z'],
  ['+05:30', '2026-03-29', '2026-03-28T18:30:00.000Z'],
  ['-23:59', '2026-03-29', '2026-03-29T23:59:00.000Z'],
  ['Asia/Kathmandu', '2026-03-29', '2026-03-28T18:15:00.000Z'],
  ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00.000Z'],
  ['Europe/Berlin', '2026-03-30', '2026-03-29T22:00:00.000Z'],
  ['europe/berlin', '2026-10-25', '2026-10-24T22:00:00.000Z'],
  ['Europe/Berlin', '2026-10-26', '2026-10-25T23:00:00.000Z'],
])('a day begins at midnight: %s, %s', (zone, date, expected) => {
  expect(startOf(zone, date)).toBe(expected)
})

test.each([
  ['America/Sao_Paulo', '2018-11-04', '2018-11-04T03:00:00.000Z'], // from 00:00 to 01:00
  ['Asia/Beirut', '2026-03-29', '2026-03-28T22:00:00.000Z'],
  ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00:00.000Z'],
  ['America/Havana', '2026-03-08', '2026-03-08T05:00:00.000Z'],
  ['America/Toronto', '1919-03-31', '1919-03-31T04:30:00.000Z'], // from 23:30 to 00:30
])('where the clock skips midnight, a day begins when it does: %s, %s', (zone, date, expected) => {
  expect(startOf(zone, date)).toBe(expected)
})

test.each([
  ['America/Havana', '2026-11-01', '2026-11-01T04:00:00.000Z'], // from 01:00 to 00:00
  ['America/St_Johns', '2010-11-07', '2010-11-07T02:30:00.000Z'], // from 00:01 to 23:01
])('where midnight comes twice, a day begins at the first: %s, %s', (zone, date, expected) => {
  expect(startOf(zone, date)).toBe(expected)
})

test('where the clock is set back at midnight, a day begins at the midnight after the repeated hour', () => {
  expect(startOf('America/Sao_Paulo', '2019-02-17')).toBe('2019-02-17T03:00:00.000Z') // from 00:00 to 23:00
  expect(startOf('Africa/Cairo', '2026-10-30')).toBe('2026-10-29T22:00:00.000Z')
})

test.each([
  ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00.000Z'],
  ['Pacific/Kwajalein', '1993-08-21', '1993-08-21T12:00:00.000Z'],
])('a day that a zone skips begins when the next one does: %s, %s', (zone, date, expected) => {
  const next = new Date(Date.parse(date) + DAY_MS).toISOString().slice(0, 10)
  expect(startOf(zone, date)).toBe(expected)
  expect(startOf(zone, next)).toBe(expected)
})

test('the calendar shows the day that began last', () => {
  const apia = zoneOf('Pacific/Apia')
  const changesAtMs = Date.parse('2011-12-30T10:00Z')
  expect(apia.dayAt(changesAtMs) - apia.dayAt(changesAtMs - 1 / 4096)).toBe(2)
  for (const zone of ['UTC', '+14:00', 'America/New_York']) {
    const [startsAtMs, day] = [zoneOf(zone).startOfDayMs(20_000), zoneOf(zone).dayAt]
    expect([startsAtMs - 1 / 4096, startsAtMs, startsAtMs + DAY_MS - 1 / 4096].map(day)).toEqual([
      19_999, 20_000, 20_000,
    ])
  }
})

const MUST =
  "someone: timeZone must be a time zone such as 'Europe/Berlin', or an offset such as '+02:00', got"

test.each([
  ['Berlin', "Did you mean timeZone: 'Europe/Berlin'?"],
  ['new york', "Did you mean timeZone: 'America/New_York'?"],
  ['Europe/Berln', "Did you mean timeZone: 'Europe/Berlin'?"],
  ['UTC+2', "Did you mean timeZone: '+02:00'?"],
  ['GMT-0330', "Did you mean timeZone: '-03:30'?"],
  ['+5:30', "Did you mean timeZone: '+05:30'?"],
])('%p is an error that suggests a zone', (value, fix) => {
  expect(() => zoneOf(value)).toThrow(new TypeError(`${MUST} "${value}". ${fix}`))
})

test.each([
  ['', '""'],
  ['+25:00', '"+25:00"'],
  ['the zone of the server', '"the zone of the server"'],
  [2, '2'],
  [null, 'null'],
])('%p is an error', (value, shown) => {
  expect(() => zoneOf(value)).toThrow(new TypeError(`${MUST} ${shown}.`))
})

test('a zone that is read again is the same, so that all of its calendars share one formatter', () => {
  expect(zoneOf('Asia/Tokyo')).toBe(zoneOf('Asia/Tokyo'))
})
