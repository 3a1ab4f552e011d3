import { candidateLimits, createLimiter, fixedWindow, logEvents } from 'headgate'
import pino from 'pino'
import type { EventLogger } from '../../../src/limiter/log-events.js'
import { brokenStore } from '../../support/fault-stores.js'

const policy = fixedWindow({ limit: 5, window: '1h' })
const key = (id: string) => id

type Entry = [level: string, fields: Readonly<Record<string, unknown>>, message: string]

function recordingLogger() {
  const entries: Entry[] = []
  const write = (level: string) => (fields: Readonly<Record<string, unknown>>, message: string) =>
    void entries.push([level, fields, message])
  const logger: EventLogger = { debug: write('debug'), info: write('info'), warn: write('warn') }
  return { logger, entries }
}

const original = process.env.DEBUG
afterEach(() => {
  if (original === undefined) delete process.env.DEBUG
  else process.env.DEBUG = original
})

test('denials and clients near a limit are info, failures of the store are warnings', async () => {
  const { logger, entries } = recordingLogger()
  const limiter = createLimiter({ policy, key, name: 'api' })
  logEvents(limiter, logger)
  for (let i = 0; i < 6; i++) await limiter.charge('ada')
  const failing = createLimiter({ policy, key, store: brokenStore() })
  logEvents(failing, logger)
  await failing.charge('ada')
  expect(entries.map(([level, { event }, message]) => [level, event, message])).toEqual([
    ['info', 'nearLimit', 'headgate: api: a client has 1 of 5 left in api'],
    ['info', 'denied', 'headgate: api: denied by api'],
    ['warn', 'storeError', 'headgate: the store could not decide a charge'],
  ])
  expect(entries[1]?.[1]).toMatchObject({
    limiter: 'api',
    mode: 'enforce',
    limitName: 'api',
    source: 'store',
    remaining: 0,
  })
  expect(entries[2]?.[1]).toMatchObject({ err: expect.any(Error) })
})

test('a candidate that cannot decide is a warning', async () => {
  const { logger, entries } = recordingLogger()
  const candidate = candidateLimits({ policy: fixedWindow({ limit: 1, window: '1h' }) })
  const limiter = createLimiter({ policy, key, name: 'api', store: brokenStore(), candidate })
  logEvents(limiter, logger)
  await limiter.charge('ada')
  await new Promise(setImmediate)
  expect(entries.map(([level, { event }, message]) => [level, event, message])).toContainEqual([
    'warn',
    'candidateFailed',
    'headgate: api: a candidate could not decide a charge or be adjusted',
  ])
})

test('DEBUG=headgate adds each decision, and the returned function stops it all', async () => {
  process.env.DEBUG = 'express:*,headgate'
  const error = jest.spyOn(console, 'error').mockReturnValue()
  const { logger, entries } = recordingLogger()
  const limiter = createLimiter({ policy, key })
  await limiter.charge('ada')
  expect(error).toHaveBeenCalledTimes(1) // without a logger, to standard error
  expect(error.mock.calls[0]).toMatchObject([
    'headgate: %s: %s %o',
    'a limiter',
    'decision',
    { allowed: true },
    { limit: '5-in-1h' },
  ])
  const stop = logEvents(limiter, logger)
  await limiter.charge('ada')
  expect(error).toHaveBeenCalledTimes(1)
  expect(entries.map(([level, , message]) => [level, message])).toEqual([
    ['debug', 'headgate: allowed by 5-in-1h'],
  ])
  stop()
  await limiter.charge('ada')
  expect(entries).toHaveLength(1)
})

test('in report mode, entries say what would have been denied', async () => {
  process.env.DEBUG = 'headgate'
  const { logger, entries } = recordingLogger()
  const limiter = createLimiter({ limit: 1, window: '1h', key, name: 'api', mode: 'report' })
  logEvents(limiter, logger)
  for (let i = 0; i < 2; i++) await limiter.charge('ada')
  limiter.mode = 'enforce'
  await limiter.charge('ada')
  expect(entries.map(([, { event, mode }, message]) => [event, mode, message])).toEqual([
    ['decision', 'report', 'headgate: api: allowed by api'],
    ['nearLimit', 'report', 'headgate: api: a client has 0 of 1 left in api'],
    ['denied', 'report', 'headgate: api: would have been denied by api'],
    ['decision', 'report', 'headgate: api: would have been denied by api'],
    ['denied', 'enforce', 'headgate: api: denied by api'],
    ['decision', 'enforce', 'headgate: api: denied by api'],
  ])
})

test('without DEBUG, no decision is logged', async () => {
  delete process.env.DEBUG
  const { logger, entries } = recordingLogger()
  const limiter = createLimiter({ policy, key })
  logEvents(limiter, logger)
  await limiter.charge('ada')
  expect(entries).toEqual([])
})

test('pino writes the entries as JSON lines', async () => {
  const lines: string[] = []
  const logger = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(line) })
  const limiter = createLimiter({ policy, key: () => 'grace', name: 'api' })
  logEvents(limiter, logger)
  for (let i = 0; i < 6; i++) await limiter.charge({})
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 30, limiter: 'api', event: 'nearLimit' },
    { level: 30, limiter: 'api', event: 'denied', msg: 'headgate: api: denied by api', limit: 5 },
  ])
})
