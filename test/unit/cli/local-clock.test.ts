import { LocalClock } from '../../../src/cli/log/local-clock.js'
import { readTimeZone } from '../../../src/util/time-zone.js'
import { LIMIT, replayLog, useLogFolder, write } from './replay-logs.js'
import { failureOf, mustRun } from './run-command.js'

useLogFolder()

/** Reads local times in their order. Returns them in UTC, and how many of them clocks show twice. */
function read(zone: string, times: readonly string[]) {
  const text = (ms: number) => new Date(ms).toISOString().slice(5, 16)
  const clock = new LocalClock(readTimeZone('test', 'zone', zone))
  const found = times.map((time) => {
    const ms = clock.toUtc(Date.parse(`2026-${time}Z`))
    clock.add(ms)
    return { utc: text(ms), shown: clock.shownAt(ms) }
  })
  const twice = found.filter(({ shown }) => shown?.isRepeated)
  return { utc: found.map(({ utc }) => utc), twice }
}

test.each([
  ['UTC', ['10-25T02:30', '10-25T02:10'], ['10-25T02:30', '10-25T02:10'], 0],
  ['+05:30', ['10-25T02:30'], ['10-24T21:00'], 0],
  ['Europe/Berlin', ['07-01T12:00', '12-01T12:00'], ['07-01T10:00', '12-01T11:00'], 0],
  [
    'Europe/Berlin',
    [
      '10-25T01:59',
      '10-25T02:00',
      '10-25T02:59',
      '10-25T02:40',
      '10-25T02:00',
      '10-25T02:20',
      '10-25T02:40',
      '10-25T03:00',
    ],
    [
      '10-24T23:59',
      '10-25T00:00',
      '10-25T00:59',
      '10-25T00:40',
      '10-25T01:00',
      '10-25T01:20',
      '10-25T01:40',
      '10-25T02:00',
    ],
    6,
  ],
  ['Europe/Berlin', ['10-25T02:30', '10-25T02:30'], ['10-25T00:30', '10-25T00:30'], 2],
  ['Europe/Berlin', ['10-25T03:10', '10-25T02:50'], ['10-25T02:10', '10-25T01:50'], 1],
  [
    'Europe/Berlin',
    ['03-29T01:59', '03-29T02:30', '03-29T03:00'],
    ['03-29T00:59', '03-29T01:30', '03-29T01:00'],
    0,
  ],
  [
    'Australia/Lord_Howe',
    ['04-05T01:20', '04-05T01:40', '04-05T01:35', '04-05T01:59', '04-05T01:30'],
    ['04-04T14:20', '04-04T14:40', '04-04T14:35', '04-04T14:59', '04-04T15:00'],
    4,
  ],
])('times in %s', (zone, times, utc, repeated) => {
  const { utc: found, twice } = read(zone, times)
  expect([found, twice.length]).toEqual([utc, repeated])
})

test('a log that is often silent goes on, and the clock of a busy one is set back', () => {
  const sparse = ['00:05', '00:50', '01:25', '02:05', '02:40', '02:20', '02:58', '03:20']
  expect(
    read(
      'Europe/Berlin',
      sparse.map((time) => `10-25T${time}`),
    ).utc.slice(3),
  ).toEqual(['00:05', '00:40', '01:20', '01:58', '02:20'].map((time) => `10-25T${time}`))
  const busy = Array.from({ length: 45 }, (_, minute) => `10-25T02:${String(minute).padStart(2, '0')}`)
  expect(read('Europe/Berlin', [...busy, '10-25T02:20', '10-25T02:45']).utc.slice(-2)).toEqual([
    '10-25T00:20',
    '10-25T00:45',
  ])
})

const line = (time: string) => `${JSON.stringify({ time, ip: '198.51.100.7', url: '/' })}\n`

test('the report names the hour that exists twice', async () => {
  const log = line('2026-10-25T02:30:00').repeat(2)
  const report = await replayLog(log, ...LIMIT, '--time-zone', 'Europe/Berlin')
  expect(report).toMatchObject({
    ...{ requests: 2, from: '2026-10-25T00:30:00.000Z', timeZone: 'Europe/Berlin' },
    repeatedHours: [{ hour: '2026-10-25T02:00', requests: 2, isMerged: false }],
  })
  expect(await replayLog(log, ...LIMIT)).toMatchObject({
    from: '2026-10-25T02:30:00.000Z',
    repeatedHours: [],
  })
})

test('the two hours are limited one after the other', async () => {
  const hour = ['02:00', '02:25', '02:50'].map((time) => line(`2026-10-25T${time}:00`)).join('')
  const { limits, outOfOrder } = await replayLog(
    hour + hour,
    '--limit',
    '3',
    '--window',
    '1h',
    '--policy',
    'fixed-window',
    '--time-zone',
    'Europe/Berlin',
  )
  expect([limits[0]?.denied.requests, outOfOrder.lines]).toEqual([0, 0])
})

describe('without the zone, or with a wrong one', () => {
  const MINUTES = Array.from({ length: 60 }, (_, minute) => minute)
  const at = (hour: number, minute: number) =>
    line(`2026-10-25T0${hour}:${String(minute).padStart(2, '0')}:00`)
  const hour = (hour: number) => MINUTES.map((minute) => at(hour, minute)).join('')
  const merged = (requests: number) => [{ hour: '2026-10-25T02:00', requests, isMerged: true }]

  test.each([
    ['an hour that comes twice is named', hour(1) + hour(2) + hour(2) + hour(3), merged(60)],
    ['also at the end of the log', hour(2) + hour(2), merged(60)],
    ['also among late requests', hour(2) + hour(2).replace(at(2, 30), at(2, 30) + at(2, 10)), merged(61)],
    ['single late requests are not an hour', hour(1) + at(1, 5) + hour(2) + at(2, 10) + hour(3), []],
    [
      'those that end together are not an hour',
      hour(2) + [5, 20, 3, 14, 9, 27, 1, 12].map((minute) => at(2, minute)).join('') + hour(3),
      [],
    ],
    ['times further back are not an hour', hour(1) + hour(2) + hour(1).slice(0, 500) + hour(3), []],
    ['times with a zone have no hour twice', (hour(2) + hour(2)).replaceAll(':00"', ':00Z"'), []],
  ])('%s', async (_, log, repeatedHours) => {
    expect((await replayLog(log, ...LIMIT)).repeatedHours).toEqual(repeatedHours)
    expect((await replayLog(log, ...LIMIT, '--time-zone', 'Asia/Tokyo')).repeatedHours.length).toBe(
      repeatedHours.length,
    )
  })

  test('the report says what becomes of it', async () => {
    const file = write('merged.log', hour(2) + hour(2))
    expect(await mustRun('replay', file, ...LIMIT)).toContain(`
time zone     UTC, for times without one: see --time-zone
twice         the hour from 2026-10-25 02:00: the 60 requests of its second run count in the first, unless you name the zone
`)
  })
})

test('the hours of the first lines count once', async () => {
  const combined = '198.51.100.7 - - [25/Oct/2026:02:30:00] "GET / HTTP/1.1" 200 12\n'
  const { repeatedHours } = await replayLog(combined.repeat(3), ...LIMIT, '--time-zone', 'Europe/Berlin')
  expect(repeatedHours).toEqual([{ hour: '2026-10-25T02:00', requests: 3, isMerged: false }])
})

test('lines whose times are not read do not need a zone', async () => {
  const iis = '#Fields: date time c-ip cs-method cs-uri-stem\n2026-11-28 10:00:00 198.51.100.7 GET /a\n'
  expect(await replayLog(iis, ...LIMIT)).toMatchObject({ requests: 1, timeZone: null })
})

test.each([
  [
    'Berlin',
    '--time-zone must be a time zone such as Europe/Berlin, or an offset such as +02:00, got "Berlin"; did you mean Europe/Berlin?',
  ],
  ['', '--time-zone must be a time zone such as Europe/Berlin, or an offset such as +02:00, got ""'],
])('the zone %j is none', async (zone, message) => {
  const [code, text] = await failureOf('replay', 'x.log', ...LIMIT, '--time-zone', zone)
  expect([code, text]).toEqual([2, expect.stringContaining(message)])
})

test('the report says how times without a zone were read', async () => {
  const file = write('twice.log', line('2026-10-25T02:30:00').repeat(2))
  const text = await mustRun('replay', file, ...LIMIT, '--time-zone', 'Europe/Berlin')
  expect(text).toContain(`
time zone     Europe/Berlin, for times without one: see --time-zone
twice         the hour from 2026-10-25 02:00, with 2 requests: each counts in the run nearer to the lines before it
`)
  const zoned = write('zoned.log', line('2026-10-25T02:30:00Z'))
  expect(await mustRun('replay', zoned, ...LIMIT)).not.toContain('time zone')
})
