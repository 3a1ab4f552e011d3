import { Redis } from '@upstash/redis'
import { type Store, type StoreError, slidingWindow, tokenBucket } from 'headgate'
import type { Operation, Outcome } from 'headgate/store'
import { upstashStore } from 'headgate/upstash'
import { assumeIsolate } from '../../../src/platform.js'
import { part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { type Fault, startUpstash } from '../../support/servers/upstash.js'
import { chargeStore } from '../../support/store-calls.js'
import { describeUpstash, storesOf } from './conformance.js'
import { useUpstash } from './use-upstash.js'

const used = useUpstash()
const BUCKET = tokenBucket({ capacity: 1000, refill: 1000, every: '1000d' })
const chargeOf = (key: string): Operation => ({ type: 'charge', parts: [part(key, BUCKET)] })

const STORES = storesOf(used)

describeUpstash(used, STORES['a URL and a token'] as () => Store, 'sample')

describe.each(Object.entries(STORES))('upstashStore of %s', (_, makeStore) => {
  test('is called upstash', () => {
    expect(makeStore().name).toBe('upstash')
  })

  test('sends a batch in one request, with a command for each shape', async () => {
    const store = makeStore()
    const window = slidingWindow({ limit: 5, window: '1d' })
    const charges = [
      [part('a', BUCKET)],
      [part('b', window)],
      [part('c', BUCKET)],
      [part('d', BUCKET), part('e', window)],
    ]
    await chargeStore(store, charges) // the scripts are known from then on
    used.rest.requests.length = 0
    await chargeStore(store, charges)
    expect(used.rest.requests.map(({ path }) => path)).toEqual(['/pipeline'])
    const [{ commands } = { commands: [] }] = used.rest.requests
    expect(commands.map(([name, , keys]) => [name, keys])).toEqual([
      ['evalsha', '2'],
      ['evalsha', '1'],
      ['evalsha', '2'],
    ])
  })

  test('sends scripts that lock only their keys, once as text', async () => {
    await used.redis.client.script('FLUSH')
    const store = makeStore()
    for (let i = 0; i < 3; i++) await chargeStore(store, [[part('key', BUCKET)]])
    const sent = used.rest.requests.flatMap(({ commands }) => commands)
    expect(sent.map(([name]) => name)).toEqual(['evalsha', 'eval', 'evalsha', 'evalsha'])
    expect(sent[1]?.[1]).toMatch(/^#!lua flags=allow-key-locking\n/)
    expect(await remainingOf(store, BUCKET, ['key'])).toEqual([997])
  })

  const OUTCOMES: readonly (readonly [Fault, number, Partial<StoreError>])[] = [
    ['refused', 0, { replied: false, unsent: false }],
    ['lost', 1, { replied: false, unsent: false }],
    ['cut', 1, { replied: false, unsent: false }],
    ['gateway', 1, { replied: false, unsent: false }],
    ['page', 1, { replied: false, unsent: false }],
    ['unavailable', 0, { replied: false, unsent: false }],
    ['quota', 0, { replied: true, unsent: false }],
  ]
  test.each(OUTCOMES)(
    'after the fault %s, the charge was sent once and counted %d times',
    async (fault, counted, facts) => {
      const store = makeStore()
      await store.apply([chargeOf('warm')])
      used.rest.requests.length = 0
      used.rest.fault = () => fault
      expect(await store.apply([chargeOf('key')])).toMatchObject([
        { name: 'StoreError', store: 'upstash', ...facts },
      ])
      expect(used.rest.requests).toHaveLength(1)
      used.rest.fault = () => undefined
      expect(await remainingOf(store, BUCKET, ['key'])).toEqual([1000 - counted])
    },
  )

  test('1,000 charges with random faults count at least once if allowed, and never twice', async () => {
    const store = makeStore()
    await store.apply([chargeOf('warm')])
    used.rest.requests.length = 0
    const faults: readonly (Fault | undefined)[] = [
      'refused',
      'lost',
      'cut',
      'gateway',
      'unavailable',
      undefined,
      undefined,
    ]
    let executed = 0
    used.rest.fault = () => {
      const fault = faults[Math.floor(Math.random() * faults.length)]
      if (fault !== 'refused' && fault !== 'unavailable') executed++
      return fault
    }
    let allowed = 0
    const call = async () => {
      for (let i = 0; i < 50; i++) {
        const [outcome] = await store.apply([chargeOf('key')])
        if ((outcome as Exclude<Outcome, Error> & { allowed?: boolean }).allowed) allowed++
      }
    }
    await Promise.all(Array.from({ length: 20 }, call))
    used.rest.fault = () => undefined
    const [left = 0] = await remainingOf(store, BUCKET, ['key'])
    expect(allowed).toBeGreaterThan(0)
    expect(used.rest.requests.length).toBe(1001) // with that for what is left
    expect(1000 - left).toBe(executed)
    expect(1000 - left).toBeGreaterThanOrEqual(allowed)
  })
})

describe('errors of upstashStore', () => {
  const fail = async (options: { url?: string; token?: string }) => {
    const [error] = await upstashStore({ url: used.rest.url, token: used.rest.token, ...options }).apply([
      chargeOf('key'),
    ])
    return error as StoreError
  }

  test('a wrong token is named, and nothing was counted', async () => {
    expect(await fail({ token: 'wrong' })).toMatchObject({
      message: expect.stringMatching(
        /^upstash: the server responded with status 401 and .*\. Correct the token\. Pass the UPSTASH_REDIS_REST_TOKEN /,
      ),
      replied: true,
    })
  })

  test('a server that cannot be reached has not received the request', async () => {
    const closed = await startUpstash(used.redis.server.url)
    await closed.stop()
    expect(await fail({ url: closed.url })).toMatchObject({
      message: expect.stringMatching(
        /^upstash: no response from the server: .*ECONNREFUSED.*\. Check the url\./,
      ),
      unsent: true,
    })
  })

  test('a page in place of results is shown', async () => {
    used.rest.fault = () => 'gateway'
    expect((await fail({})).message).toMatch(
      /^upstash: the server responded with status 502 and "<html>.* Check that the url/,
    )
  })

  test('a plan that is used up is named', async () => {
    used.rest.fault = () => 'quota'
    expect((await fail({})).message).toMatch(
      /max requests limit exceeded.* Upgrade the plan in the Upstash console\.$/,
    )
  })

  test.each([
    [
      { token: 'x' },
      'upstashStore: url must be an https:// URL, got undefined. Pass the UPSTASH_REDIS_REST_URL',
    ],
    [
      { url: 'rediss://eu1.upstash.io:6379', token: 'x' },
      'upstashStore: url must be an https:// URL, got a string.',
    ],
    [{ url: 'https://eu1.upstash.io' }, 'upstashStore: token must be a token, got undefined.'],
    [{ url: 'https://eu1.upstash.io', token: 'a b' }, 'upstashStore: token must be a token, got a string.'],
    [{ url: 'https://eu1.upstash.io', token: 'x', retry: 1 }, 'upstashStore: there is no option "retry".'],
  ])('rejects the options %j', (options, message) => {
    expect(() => upstashStore(options as never)).toThrow(message)
  })

  test.each([undefined, false, { retries: 1 }] as const)(
    'rejects a Redis of @upstash/redis with retry: %j',
    (retry) => {
      const client = new Redis({
        url: used.rest.url,
        token: used.rest.token,
        ...(retry !== undefined && { retry }),
      })
      expect(() => upstashStore(client)).toThrow(
        /^upstashStore: the client's retries must be 0, got [15]\. .*Write new Redis\(\{ url, token, retry: \{ retries: 0 \} \}\)/,
      )
    },
  )
})

describe('on an isolate, a request', () => {
  beforeEach(() => assumeIsolate(true))
  afterEach(() => {
    assumeIsolate(undefined)
    jest.restoreAllMocks()
  })

  /** Begins a charge. Returns its outcome, and its timer of a minute. */
  function charge() {
    const started = jest.spyOn(globalThis, 'setTimeout')
    const store = upstashStore({ url: used.rest.url, token: used.rest.token })
    const outcomes = store.apply([chargeOf('timed')])
    const i = started.mock.calls.findIndex(([, ms]) => Number(ms) > 59_000)
    return { outcomes, timer: started.mock.results[i]?.value, expire: started.mock.calls[i]?.[0] }
  }

  test('leaves no timer behind, because a Worker may have only 10,000', async () => {
    const stopped = jest.spyOn(globalThis, 'clearTimeout')
    const { outcomes, timer } = charge()
    expect(await outcomes).toMatchObject([{ allowed: true }])
    expect(timer).toBeDefined()
    expect(stopped).toHaveBeenCalledWith(timer)
  })

  test('is given up after a minute', async () => {
    used.rest.fault = () => 'hangs'
    const { outcomes, timer, expire } = charge()
    clearTimeout(timer)
    expire?.()
    const [error] = await outcomes
    expect(error).toMatchObject({
      message: expect.stringContaining('no reply within 60000 ms'),
      unsent: false,
    })
  })
})
