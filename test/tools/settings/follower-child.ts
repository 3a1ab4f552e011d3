import { setTimeout as pause } from 'node:timers/promises'
import { createLimiter, sharedSettings, slidingWindow } from 'headgate'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { answerQuestions } from '../../bench/harness/child.js'

/** The limit in the code: lower than all that documents set. */
const CODE_LIMIT = 10
const CALLERS = 8

/** What a process is told to do. */
export interface Order {
  /** The client that it charges from now on, until the next order. */
  readonly client?: string
  /** An override that it adds to the document meanwhile. */
  readonly mark?: string
  /** The client whose allowed charges it reports. */
  readonly count?: string
}

/** What a process reports. */
export interface Report {
  /** How many charges of the client in the order were allowed. */
  readonly allowed: number
  /** How many charges the store could not decide. */
  readonly undecided: number
  /** The limit in force, and since when, in milliseconds since the Unix epoch. */
  readonly limit: number
  readonly sinceMs: number
  /** How many changes are being made. */
  readonly pending: number
  /** Why changes failed. */
  readonly failures: readonly string[]
}

async function follow(url: string): Promise<void> {
  const client = new Redis(url, { autoResendUnfulfilledCommands: false, disconnectTimeout: 100 })
  client.on('error', () => undefined)
  const store = redisStore(client)
  const settings = sharedSettings(store)
  const limiter = createLimiter<string>({
    name: 'api',
    policy: slidingWindow({ limit: CODE_LIMIT, window: '1d' }),
    key: (id) => id,
    store,
    settings,
    onStoreError: 'deny',
    denyCache: false,
  })
  let current = ''
  const allowed = new Map<string, number>()
  let undecided = 0
  let limit = CODE_LIMIT
  let sinceMs = Date.now()
  let pending = 0
  const failures: string[] = []
  let isRunning = true

  limiter.events.on('storeError', () => undefined)
  limiter.events.on('settingsFailed', () => undefined)
  limiter.events.on('settings', () => {
    const policies = limiter.describe().limits.map(({ policy }) => policy as { readonly limit: number })
    const next = policies[0]?.limit ?? CODE_LIMIT
    if (next !== limit) sinceMs = Date.now()
    limit = next
  })

  async function call(): Promise<void> {
    while (isRunning) {
      const charged = current
      if (charged !== '') {
        const decision = await limiter.charge(charged)
        if (decision.source !== 'store') undecided++
        else if (decision.allowed) allowed.set(charged, (allowed.get(charged) ?? 0) + 1)
      }
      await pause(2)
    }
  }

  async function mark(identity: string): Promise<void> {
    pending++
    try {
      await settings.change(
        'api',
        (document) => ({ ...document, overrides: [...document.overrides, { identity, exempt: true }] }),
        { by: String(process.pid), reason: identity },
      )
    } catch (error) {
      failures.push(String(error))
    }
    pending--
  }

  for (let i = 0; i < CALLERS; i++) call()
  process.on('disconnect', async () => {
    isRunning = false
    await limiter.close()
    client.disconnect()
  })
  answerQuestions((order: Order): Report => {
    const figures = { undecided, limit, sinceMs, pending, failures: [...failures] }
    if (order.mark !== undefined) mark(order.mark)
    current = order.client ?? current
    return { ...figures, allowed: allowed.get(order.count ?? '') ?? 0 }
  })
}

follow(process.argv[2] ?? '')
