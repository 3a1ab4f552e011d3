import { openSync, writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { concurrency, createLimiter } from 'headgate'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { answerQuestions } from '../../bench/harness/child.js'

export const TTL_MS = 2000
export const LIMIT = 40

/** What a process does. */
export interface Order {
  /** How many requests it begins that stay in flight until it ends. */
  readonly held?: number
  /** How many callers send short requests, one after the other, and for how long. */
  readonly callers?: number
  readonly forMs?: number
  /** Has the process end itself by SIGKILL. */
  readonly dies?: true
}

/** The clock that all processes of a machine share, in milliseconds. */
const monotonicMs = () => Number(process.hrtime.bigint()) / 1e6

/**
 * Writes each begin and end of a request to a file at once, so that the log outlives SIGKILL: a request
 * begins after it was allowed, and ends before it is released.
 */
function serve(url: string, logPath: string): void {
  const client = new Redis(url, { autoResendUnfulfilledCommands: false })
  const policy = concurrency({ limit: LIMIT, ttl: TTL_MS })
  const store = redisStore(client)
  const limiter = createLimiter({ store, name: 'app', policy, key: () => 'all', timeout: 5000 })
  const log = openSync(logPath, 'a')
  const write = (units: 1 | -1) => writeSync(log, `${monotonicMs()} ${units}\n`)
  const connected = client.ping()
  process.on('disconnect', () => client.disconnect())

  async function runCaller(endMs: number): Promise<number> {
    let denied = 0
    while (performance.now() < endMs) {
      const decision = await limiter.charge(undefined)
      if (decision.source !== 'store') throw new Error(`decided by ${decision.source}`)
      if (decision.allowed) {
        write(1)
        await pause(Math.random() * 200)
        write(-1)
        await limiter.release(decision)
      } else {
        denied++
        await pause(20 + Math.random() * 20)
      }
    }
    return denied
  }

  answerQuestions(async ({ held = 0, callers = 0, forMs = 0, dies }: Order): Promise<number> => {
    await connected
    if (dies) {
      writeSync(log, `${monotonicMs()} killed\n`)
      process.kill(process.pid, 'SIGKILL')
    }
    for (let i = 0; i < held; i++) {
      const { allowed } = await limiter.charge(undefined)
      if (!allowed) throw new Error('a request that was to be held was denied')
      write(1)
    }
    const endMs = performance.now() + forMs
    const denials = await Promise.all(Array.from({ length: callers }, () => runCaller(endMs)))
    return denials.reduce((sum, each) => sum + each, 0)
  })
}

const [url = '', logPath = ''] = process.argv.slice(2)
if (process.send !== undefined && url.startsWith('redis://')) serve(url, logPath)
