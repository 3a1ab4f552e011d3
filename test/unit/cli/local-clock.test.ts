import { LocalClock } from '../../../src/cli/log/local-clock.js'
import { readTimeZone } from '../../../src/util/time-zone.js'
import { LIMIT, replayLog, useLogFolder, write } from './replay-logs.js'
import { failureOf, mustRun } from './run-command.js'

useLogFolder()

/** Reads local times in their order. Returns them in UTC, and the local times that clocks show twice. */
function read(zone: string, times: readonly string[]) {
  let newestMs = Number.NEGATIVE_INFINITY
  const twice: string[] = []
  const text = (ms: number) => new Date(ms).toISOString().slice(5, 16)
  const clock = new LocalClock(
    readTimeZone('test', 'zone', zone),
    () => newestMs,
    (localMs) => twice.push(text(localMs)),
  )
  const utc = times.map((time) => {
    const ms = clock.toUtc(Date.parse(`2026-${time}Z`))
    newestMs = Math.max(newestMs, ms)
    return text(ms)
  })
  return { utc, twice }
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

const line = (time: string) => `${JSON.stringify({ time, ip: '198.51.100.7', url: '/' })}\n`

test('the report names the hour that exists twice', async () => {
  const log = line('2026-10-25T02:30:00').repeat(2)
  const report = await replayLog(log, ...LIMIT, '--time-zone', 'Europe/Berlin')
  expect(report).toMatchObject({
    ...{ requests: 2, from: '2026-10-25T00:30:00.000Z', timeZone: 'Europe/Berlin' },
    repeatedHours: [{ hour: '2026-10-25T02:00', requests: 2 }],
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
time zone     Europe/Berlin, for times that name none: see --time-zone
twice         the hour from 2026-10-25 02:00, with 2 requests: each is in the one nearer to the lines before it
`)
  const zoned = write('zoned.log', line('2026-10-25T02:30:00Z'))
  expect(await mustRun('replay', zoned, ...LIMIT)).not.toContain('time zone')
})
