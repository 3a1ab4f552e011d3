import { openSync, writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { concurrency, createLimiter } from 'headgate'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { answerQuestions } from '../../bench/harness/child.js'
import { CALLERS, LIMIT } from './in-flight-limits.js'

/** What a process does: it begins requests, or ends the last ones and says how many units are free. */
export type Order = 'begin' | 'end'

/** Of ten requests, one takes long enough to be renewed, if the ttl is short. */
const SHORT_MS = 50
const LONG_MS = 5000

/**
 * Writes each begin and end of a request to a file, by the clock that all processes of a machine share: a
 * request begins after it was allowed, and ends before it is released.
 */
function serve(url: string, logPath: string, ttlMs: number): void {
  const client = new Redis(url, { autoResendUnfulfilledCommands: false })
  client.on('error', () => undefined)
  const limiter = createLimiter({
    store: redisStore(client),
    policy: concurrency({ limit: LIMIT, ttl: ttlMs }),
    name: 'in-flight',
    key: () => 'all',
    onStoreError: 'deny',
  })
  for (const event of ['storeError', 'refundFailed', 'renewalFailed'] as const)
    limiter.events.on(event, () => undefined)
  const log = openSync(logPath, 'a')
  const write = (units: 1 | -1) => writeSync(log, `${Number(process.hrtime.bigint()) / 1e6} ${units}\n`)
  let isEnding = false
  let callers: Promise<unknown> = Promise.resolve()
  process.on('disconnect', () => client.disconnect())

  async function runCaller(): Promise<void> {
    while (!isEnding) {
      const decision = await limiter.charge(undefined)
      if (decision.allowed) {
        write(1)
        await pause(Math.random() * (Math.random() < 0.1 ? LONG_MS : SHORT_MS))
        write(-1)
        await Promise.resolve(limiter.release(decision)).catch(() => undefined) // it may fail in a fault
      } else await pause(5 + Math.random() * 10)
    }
  }

  answerQuestions(async (order: Order): Promise<number> => {
    await client.ping()
    if (order === 'begin') callers = Promise.all(Array.from({ length: CALLERS }, runCaller))
    else {
      isEnding = true
      await callers
    }
    return (await limiter.peek(undefined)).remaining
  })
}

const [url = '', logPath = '', ttlMs = ''] = process.argv.slice(2)
if (process.send !== undefined && url.startsWith('redis://')) serve(url, logPath, Number(ttlMs))
