import { Ratelimit } from '@upstash/ratelimit'
import type { Redis as Upstash } from '@upstash/redis'
import Bottleneck from 'bottleneck'
import express from 'express'
import {
  concurrency,
  createLimiter,
  fixedWindow,
  loginGuard,
  rateLimit,
  type Store,
  slidingWindow,
} from 'headgate'
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'
import { ban } from '../../../src/index.js'
import { failingStore } from '../../support/failing-store.js'
import { closeServers } from '../../support/http.js'
import { nextTurn } from '../../support/next-turn.js'
import { until } from '../../support/servers/wait.js'
import { sendTimes, statusesOf, testBox } from './boxes.js'

afterEach(closeServers)

const key = (id: string) => id
const policy = fixedWindow({ limit: 5, window: '1m', startsAt: 'first-request' })
const PEER = { points: 5, duration: 60 }

/** A store that fails each charge, or leaves it without a reply. */
function brokenStore(mode: 'failing' | 'hanging'): Store {
  return Object.assign(failingStore(), { mode })
}

testBox('rate-limiter-flexible', {
  'A denial resolves': async () => {
    const theirs = new RateLimiterMemory(PEER)
    await theirs.consume('ada', 5)
    await expect(theirs.consume('ada')).rejects.toMatchObject({ remainingPoints: 0 })
    const ours = createLimiter({ key, policy })
    await ours.charge('ada', { cost: 5 })
    expect(await ours.charge('ada')).toMatchObject({ allowed: false, remaining: 0 })
  },
  'Denials take nothing.': async () => {
    const theirs = new RateLimiterMemory(PEER)
    const ours = createLimiter({ key, policy })
    for (let i = 0; i < 8; i++) {
      await theirs.consume('ada').catch(() => undefined)
      await ours.charge('ada')
    }
    expect(await theirs.get('ada')).toMatchObject({ consumedPoints: 8 })
    await theirs.reward('ada', 1)
    await ours.reward('ada', 1)
    expect(await theirs.get('ada')).toMatchObject({ remainingPoints: 0 })
    expect(await ours.peek('ada')).toMatchObject({ remaining: 1 })
  },
  'A failing store does not reject.': async () => {
    const lost = { defineCommand() {}, rlflxIncr: () => Promise.reject(new Error('connection lost')) }
    await expect(new RateLimiterRedis({ ...PEER, storeClient: lost }).consume('ada')).rejects.toThrow(
      'connection lost',
    )
    const ours = createLimiter({ key, policy, store: brokenStore('failing') })
    expect(await ours.charge('ada')).toMatchObject({ allowed: true, source: 'local' })
  },
  Durations: async () => {
    const theirs = new RateLimiterMemory(PEER)
    await theirs.block('ada', 900)
    const ours = createLimiter({ key, policy: ban(policy, { after: 5, within: '5m', for: '1h' }) })
    await ours.blockFor('ada', '15m')
    const waits = [(await theirs.get('ada'))?.msBeforeNext, (await ours.charge('ada')).retryAfterMs]
    expect(waits.map((ms) => Math.round((ms ?? 0) / 10_000))).toEqual([90, 90])
  },
  'Logins get two more limits.': () => {
    const limitsOf = (options: object) =>
      loginGuard({ field: 'email', ...options })
        .describe()
        .map(({ limit }) => limit)
    expect(limitsOf({})).toEqual(['address', 'account-and-address', 'account', 'consecutive'])
    expect(limitsOf({ consecutive: false })).toEqual(['address', 'account-and-address', 'account'])
    expect(() => limitsOf({ limits: { account: false } })).toThrow(TypeError)
    const account = slidingWindow({ limit: 1_000_000, window: '30m' })
    expect(limitsOf({ limits: { account } })).toHaveLength(4)
  },
})

/** In place of a client of Upstash, which keeps the scripts that it is sent. */
function upstash(reply: () => Promise<unknown>) {
  const scripts: string[] = []
  const client = {
    evalsha: () => Promise.reject(new Error('NOSCRIPT')),
    eval(script: string) {
      scripts.push(script)
      return reply()
    },
  } as unknown as Upstash
  return { client, scripts }
}

testBox('upstash-ratelimit', {
  'Timeouts.': async () => {
    const { client } = upstash(async () => [1, 0])
    const theirs = new Ratelimit({ redis: client, limiter: Ratelimit.fixedWindow(5, '1 m') })
    expect(theirs).toMatchObject({ timeout: 5000 })
    const timer = jest.spyOn(globalThis, 'setTimeout')
    const ours = createLimiter({ key, policy, store: brokenStore('hanging') })
    expect(await ours.charge('ada')).toMatchObject({ allowed: true, source: 'local' })
    const longest = Math.max(...timer.mock.calls.map(([, ms = 0]) => ms))
    timer.mockRestore()
    expect(longest).toBeLessThanOrEqual(100)
  },
  'Errors of Redis': async () => {
    const { client } = upstash(() => Promise.reject(new Error('connection lost')))
    const theirs = new Ratelimit({ redis: client, limiter: Ratelimit.fixedWindow(5, '1 m') })
    await expect(theirs.limit('ada')).rejects.toThrow('connection lost')
    const ours = createLimiter({ key, policy, store: brokenStore('failing') })
    expect(await ours.charge('ada')).toMatchObject({ allowed: true })
  },
  'Sliding windows': async () => {
    const { client, scripts } = upstash(async () => [1, 0])
    await new Ratelimit({ redis: client, limiter: Ratelimit.slidingWindow(5, '1 m') }).limit('ada')
    expect(scripts.join()).toMatch(/previousKey[\s\S]*percentageInCurrent/)
    expect(slidingWindow({ limit: 5, window: '1m' })).toMatchObject({ spec: { slices: 10 } })
  },
})

testBox('bottleneck', {
  'A failing store.': async () => {
    const store = brokenStore('failing')
    const limiter = createLimiter({ key, limit: 4, window: '1h', store, fallbackShare: 1 / 4 })
    const jobs = Array.from({ length: 5 }, () => limiter.waitFor('ada', { maxWait: '1s' }))
    const decisions = await Promise.all(jobs)
    await limiter.close()
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(1)
  },
  'A full queue': async () => {
    const theirs = new Bottleneck({ maxConcurrent: 1 })
    let finish: (() => void) | undefined
    const work = () => new Promise<void>((resolve) => (finish = resolve))
    for (let i = 0; i < 5_010; i++) theirs.schedule(work).catch(() => undefined)
    await until('the first one runs', () => finish)
    const { RECEIVED, QUEUED, RUNNING, EXECUTING = 0 } = theirs.counts()
    expect(RECEIVED + QUEUED + RUNNING + EXECUTING).toBe(5_010)
    const stopped = theirs.stop()
    finish?.()
    await stopped
    expect(await deniedOf(5_010)).toBe(9) // one started
  },
  Priorities: async () => {
    expect(() => new Bottleneck().schedule({ priority: 1 }, async () => 'done')).not.toThrow()
    const { waitFor } = createLimiter({ key, policy })
    await expect(async () => waitFor('ada', { priority: 1 } as object)).rejects.toThrow(/priority/)
  },
})

/** How many of some charges for one place, all of one key, are denied at once. */
async function deniedOf(count: number): Promise<number> {
  const limiter = createLimiter({ key, policy: concurrency({ limit: 1 }) })
  let denied = 0
  for (let i = 0; i < count; i++)
    void limiter.waitFor('ada', { maxWait: '10m' }).then(({ allowed }) => {
      if (!allowed) denied++
    })
  await nextTurn()
  const atOnce = denied
  await limiter.close()
  return atOnce
}

testBox('p-limit', {
  'A full queue': async () => expect(await deniedOf(5_002)).toBe(1),
})

testBox('rack-attack', {
  'Blocklists win.': async () => {
    const lists = { limit: 5, window: '1m', allow: ['127.0.0.1'], block: ['127.0.0.1'] } as const
    const first = async (options: object) =>
      statusesOf(
        await sendTimes(
          1,
          express().use(rateLimit({ ...lists, ...options }), (_req, res) => void res.end()),
        ),
      )
    expect(await first({})).toEqual([403])
    expect(await first({ skip: () => true })).toEqual([200])
  },
  'A missing key': async () => {
    const limiter = rateLimit({ limit: 1, window: '1m', key: () => null })
    const app = express().use(limiter, (_req, res) => void res.end())
    expect(statusesOf(await sendTimes(2, app))).toEqual([200, 429])
  },
  'Denials take nothing.': async () => {
    const ours = createLimiter({ key, policy })
    for (let i = 0; i < 8; i++) await ours.charge('ada')
    await ours.reward('ada', 1)
    expect(await ours.peek('ada')).toMatchObject({ remaining: 1 })
  },
})
