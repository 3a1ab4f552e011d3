import { redisStore } from 'headgate/redis'
import { Cluster, Redis } from 'ioredis'
import { answerQuestions } from '../../bench/harness/child.js'
import type { Scenario } from './scenario.js'
import { limiterFor, sendTraffic } from './traffic.js'

/** An order of the parent: connect, or send this process's part of the traffic. */
export type Question = { readonly do: 'connect' | 'traffic' }

/** What one process admitted and denied. */
export interface Counts {
  admitted: number
  denied: number
}

const [json = '', index = '', ...urls] = process.argv.slice(2)
const scenario = JSON.parse(json) as Scenario
process.once('disconnect', () => process.exit()) // an open connection would keep it running
const client =
  urls.length === 1
    ? new Redis(urls[0] as string, { autoResendUnfulfilledCommands: false })
    : new Cluster(urls, { retryDelayOnFailover: 0 })
const limiter = limiterFor(scenario, redisStore(client))

answerQuestions(async (question: Question): Promise<Counts> => {
  const counts: Counts = { admitted: 0, denied: 0 }
  if (question.do === 'connect') {
    await limiter.peek('somebody else') // loads the script, too
    return counts
  }
  await sendTraffic({
    scenario,
    process: Number(index),
    limiter,
    onDecision: (_key, { allowed }) => counts[allowed ? 'admitted' : 'denied']++,
  })
  await limiter.close()
  return counts
})
