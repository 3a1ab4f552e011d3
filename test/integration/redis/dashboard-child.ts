import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createLimiter, fixedWindow } from 'headgate'
import { dashboard } from 'headgate/dashboard'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { answerQuestions } from '../../bench/harness/child.js'

export const LIMIT = 10

/** What a process does. */
export interface Order {
  /** How many requests of one client it decides. */
  readonly charges?: number
  /** Has the process end itself by SIGKILL. */
  readonly dies?: true
}

/** Serves a dashboard on a free port, which each answer names. Ends by itself when the parent is done. */
async function serve(url: string): Promise<void> {
  const client = new Redis(url, { autoResendUnfulfilledCommands: false, disconnectTimeout: 100 })
  client.on('error', () => undefined) // while the server is down
  const policy = fixedWindow({ limit: LIMIT, window: '1h' })
  const store = redisStore(client)
  const limiter = createLimiter<string>({ name: 'api', policy, key: (id) => id, store, timeout: 5000 })
  const page = dashboard({ limiters: [limiter], authorize: () => true })
  const server = createServer((req, res) => page(req, res)).listen(0, '127.0.0.1')
  process.on('disconnect', () => {
    page.close()
    server.close()
    client.disconnect()
  })

  answerQuestions(async ({ charges = 0, dies }: Order): Promise<number> => {
    if (dies) process.kill(process.pid, 'SIGKILL')
    for (let i = 0; i < charges; i++) await limiter.charge('ada')
    return (server.address() as AddressInfo).port
  })
}

const [url = ''] = process.argv.slice(2)
if (process.send !== undefined && url.startsWith('redis://')) void serve(url)
