import { createLimiter, fixedWindow, type Policy, sharedSettings, tokenBucket } from 'headgate'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { answerQuestions } from '../../bench/harness/child.js'

export const CAPACITY = 4
export const PER_SECOND = 100

/** The key of the number of orders whose charges have begun to wait. */
export const WAITING = 'orders waiting'

/** The limits that processes share, by the names of their limiters. */
const POLICIES: Readonly<Record<string, Policy>> = {
  calls: tokenBucket({ capacity: CAPACITY, refill: PER_SECOND, every: '1s' }),
  jobs: fixedWindow({ limit: 1, window: '1h' }),
}

/** Who waits, in which limiter. */
export interface Order {
  readonly name: 'calls' | 'jobs'
  readonly ids: readonly string[]
}

/** What became of those who waited, in the order of the decisions. */
export type Outcomes = readonly { readonly i: number; readonly source: string; readonly allowed: boolean }[]

function serve(url: string): void {
  const client = new Redis(url, { autoResendUnfulfilledCommands: false })
  const store = redisStore(client)
  const settings = sharedSettings(store)
  const limiterOf = (name: string) =>
    createLimiter({
      name,
      policy: POLICIES[name] as Policy,
      key: (id: string) => id,
      store,
      settings,
      timeout: 5000,
    })
  const limiters = { calls: limiterOf('calls'), jobs: limiterOf('jobs') }
  process.on('disconnect', async () => {
    await Promise.all([limiters.calls.close(), limiters.jobs.close()])
    client.disconnect()
  })

  answerQuestions(async ({ name, ids }: Order): Promise<Outcomes> => {
    await client.ping()
    const outcomes: Outcomes[number][] = []
    const waits = ids.map(async (id, i) => {
      const { allowed, source } = await limiters[name].waitFor(id)
      outcomes.push({ i, source, allowed })
    })
    await Promise.all(ids.map((id) => limiters[name].peek(id))) // after the first charges
    await client.incr(WAITING)
    await Promise.all(waits)
    return outcomes
  })
}

const [url = ''] = process.argv.slice(2)
if (process.send !== undefined && url.startsWith('redis://')) serve(url)
