import type { Request } from 'express'
import express from 'express'
import {
  ban,
  type Policy,
  rateLimit,
  type SettingsDocument,
  type Store,
  sharedSettings,
  tokenBucket,
} from 'headgate'
import type { Operation } from 'headgate/store'
import { chargeOne, part } from '../../../src/testing/conformance/store-calls.js'
import { closeServers, type Served, send, serve } from '../../support/http.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { STORES, type Started } from '../store-kinds.js'

// The units in use take 1.3 trillion years at the rate of the new document.

type LimitSettings = SettingsDocument['limits'][string]

const ALL = 2 ** 37
const origin = { by: 'ada', reason: 'a test' }
const NEIGHBORS = ['one', 'another'] as const
const fast = tokenBucket({ capacity: ALL, refill: ALL, every: '1d' })
const slow: LimitSettings = { policy: 'tokenBucket', capacity: 1, refill: 1, every: '10y' }
const costOf = (req: Request) => Number(req.get('x-cost') ?? 1)

/** A whole number of seconds that a double holds exactly, and that lies more than 100,000 years ahead. */
const FAR = '[1-9][0-9]{12,14}'

describe.each(STORES)('on $name', (kind) => {
  let started: Started
  let store: Store
  beforeAll(async () => {
    started = await kind.start()
    store = await started.makeStore()
  }, INSTALL_TIMEOUT_MS)
  afterEach(closeServers)
  afterAll(() => started?.stop())

  test.each<[string, Policy, LimitSettings, readonly string[]]>([
    ['alone', fast, slow, []],
    ['by its numbers', fast, { limit: 1, window: '10y' }, []],
    ['beside another limit', fast, slow, ['other']],
    ['in a ban', ban(fast, { after: 5, within: '1h', for: '1h' }), { limit: 1, window: '10y' }, []],
  ])(
    'a document with a far slower rate denies with headers that hold: %s',
    async (how, policy, limit, others) => {
      const name = `far-${how.replaceAll(' ', '-')}`
      const settings = sharedSettings(store)
      const limits = ['api', ...others].map((own) => ({
        name: own,
        policy: own === 'api' ? policy : fast,
        cost: costOf,
      }))
      const limiter = rateLimit<Request>({ name, limits, headers: 'both', timeout: '5s', store, settings })
      const storeErrors: unknown[] = []
      limiter.limiter.events.on('storeError', (error) => storeErrors.push(error))
      const app = express().get('/', limiter, (_req, res) => void res.send('hello'))
      const served: Served = await serve(app)
      expect((await send(served, { headers: { 'x-cost': String(ALL) } })).status).toBe(200)
      await settings.change(name, () => ({ limits: { api: limit } }), origin)
      for (let i = 0; i < 2; i++) {
        const { status, headers } = await send(served)
        expect(status).toBe(429)
        expect(headers).toMatchObject({
          'retry-after': expect.stringMatching(new RegExp(`^${FAR}$`)),
          'x-ratelimit-limit': '1',
          'x-ratelimit-remaining': '0',
          'x-ratelimit-reset': expect.stringMatching(new RegExp(`^${FAR}$`)),
          'ratelimit-policy': expect.stringMatching(/^"api";q=1;w=[1-9][0-9]{8}(, "other";.*)?$/),
          ratelimit: expect.stringMatching(new RegExp(`^"api";r=0;t=${FAR}(, "other";r=[0-9]+;t=[0-9]+)?$`)),
        })
      }
      expect(storeErrors).toEqual([])
      await settings.change(name, () => ({}), origin)
      expect((await send(served, { headers: { 'x-cost': '0' } })).status).toBe(200)
      await limiter.limiter.close()
    },
  )

  test.each<[string, (each: Policy) => Policy]>([
    ['a bucket', (each) => each],
    ['a ban that counts denials', (each) => ban(each, { after: 5, within: '1h', for: '1h' })],
    ['a ban after one denial', (each) => ban(each, { after: 1, within: '1h', for: '1h' })],
    ['a ban that restarts', (each) => ban(each, { after: 1, within: '1h', for: '1h', onAttempt: 'restart' })],
  ])(
    'operations of far figures succeed, and so do those beside them in a batch: %s',
    async (how, policyOf) => {
      const policy = policyOf(tokenBucket({ capacity: 1, refill: 1, every: '10y' }))
      const at = (key: string) => ({ key: `${how} ${key}`, policy })
      const charge = (key: string): Operation => ({ type: 'charge', parts: [{ ...at(key), cost: 1 }] })
      const units = { cost: 1, takenAtMs: Date.now(), resetAtMs: Date.now() + 1e12 }
      const steps: readonly ((key: string) => Operation)[] = [
        charge,
        charge, // denied: a ban counts it
        (key) => ({ ...at(key), ...units, type: 'refund' }),
        (key) => ({ ...at(key), type: 'reward', units: 1 }),
        (key) => ({ ...at(key), type: 'take', units: 1 }),
        ...(policy.isBan ? [(key: string): Operation => ({ ...at(key), type: 'block', forMs: 1000 })] : []),
        charge,
        (key) => ({ ...at(key), type: 'forget' }),
      ]
      const [one, another] = NEIGHBORS
      const repeated = [...Array.from({ length: 3 }, () => 'far'), one, 'far', another] // each key is written once
      for (const keys of [[one, 'far', another], repeated]) {
        await chargeOne(store, part(at('far').key, policyOf(fast), ALL))
        for (const operationOf of steps) {
          const outcomes = await store.apply(keys.map(operationOf))
          expect(outcomes.filter((outcome) => outcome instanceof Error)).toEqual([])
          expect(outcomes).toHaveLength(keys.length)
        }
      }
    },
  )
})
