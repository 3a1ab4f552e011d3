import { type Answer, type Sent, send } from '../../support/http.js'
import { until } from '../../support/servers/wait.js'
import { recordWarnings } from '../../support/warnings.js'
import type { Running } from './application.js'
import { sendAndHold } from './hold.js'
import type { ScenarioName } from './scenarios.js'
import { type RemoteSignals, signalsAt } from './signals.js'

/** A framework, and the application that serves the scenarios with it. */
export interface Adapter {
  readonly name: string
  /** Starts the application, in this process or in another. */
  start(): Promise<Running>
}

const TOO_MANY = 'Too many requests. Try again in 30 seconds.\n'
const QUOTA_EXCEEDED = 'https://iana.org/assignments/http-problem-types#quota-exceeded'
const REDUCED_CAPACITY = 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity'
const JSON_TYPE = { accept: 'application/json' }

/** Declares the cases that hold for every adapter, over real sockets. */
export function adapterCases({ name, start }: Adapter): void {
  let running: Running
  let signals: RemoteSignals
  recordWarnings()

  beforeAll(async () => {
    running = await start()
    signals = signalsAt(running.signalPort)
  })

  afterAll(() => running.close())

  const sendTo = (scenario: ScenarioName, sent: Sent = {}): Promise<Answer> =>
    send({ ...running, host: '::1' }, { path: `/${scenario}`, ...sent })

  async function statusesOf(scenario: ScenarioName, ...requests: readonly Sent[]): Promise<number[]> {
    const statuses: number[] = []
    for (const sent of requests) statuses.push((await sendTo(scenario, sent)).status)
    return statuses
  }

  /** Sends requests that differ in one header. */
  const withHeader = (scenario: ScenarioName, header: string, ...values: readonly (string | number)[]) =>
    statusesOf(scenario, ...values.map((value) => ({ headers: { [header]: value } })))

  const exhaust = (scenario: ScenarioName) => statusesOf(scenario, {}, {})

  describe(name, () => {
    test('allows what is within the limit, and denies what is over it', async () => {
      const [first, second, third] = [await sendTo('plain'), await sendTo('plain'), await sendTo('plain')]
      expect([first, second].map(({ status, text }) => [status, JSON.parse(text)])).toEqual([
        [200, { allowed: true, remaining: 1, source: 'store' }],
        [200, { allowed: true, remaining: 0, source: 'store' }],
      ])
      expect(third).toMatchObject({ status: 429, text: TOO_MANY })
      expect(third.headers).toMatchObject({
        'content-type': 'text/plain; charset=utf-8',
        'content-length': String(TOO_MANY.length),
        'cache-control': 'no-store',
        'retry-after': '30',
      })
      expect(first.headers).not.toHaveProperty('retry-after')
      expect(await signals.countOf('handled /plain')).toBe(2)
    })

    const LEGACY = { 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '30' }
    const DRAFT = { 'ratelimit-policy': '"2-in-1min";q=2;w=60', ratelimit: '"2-in-1min";r=1;t=30' }

    test.each([
      ['legacy', LEGACY],
      ['draft', DRAFT],
      ['both', { ...LEGACY, ...DRAFT }],
      ['none', {}],
    ] as const)('sends headers: %p', async (style, headers) => {
      expect(quotaHeaders(await sendTo(style))).toEqual(headers)
      await sendTo(style)
      expect(Object.keys(quotaHeaders(await sendTo(style))).sort()).toEqual(Object.keys(headers).sort())
    })

    test('sends X-RateLimit-Reset in seconds since the epoch', async () => {
      const before = Math.floor(Date.now() / 1000)
      const reset = Number((await sendTo('epoch')).headers['x-ratelimit-reset'])
      expect(reset - before).toBeGreaterThanOrEqual(30)
      expect(reset - Math.ceil(Date.now() / 1000)).toBeLessThanOrEqual(30)
    })

    test('answers clients that take JSON with a problem document', async () => {
      await exhaust('plain')
      const { status, headers, text } = await sendTo('plain', { headers: JSON_TYPE })
      expect({ status, type: headers['content-type'] }).toEqual({
        status: 429,
        type: 'application/problem+json',
      })
      expect(JSON.parse(text)).toEqual({
        type: QUOTA_EXCEEDED,
        title: 'Too many requests',
        status: 429,
        detail: 'Try again in 30 seconds.',
        'violated-policies': ['2-in-1min'],
      })
    })

    test('answers HEAD without a body', async () => {
      await exhaust('plain')
      const { status, headers, text } = await sendTo('plain', { method: 'HEAD' })
      expect({ status, retryAfter: headers['retry-after'], text }).toEqual({
        status: 429,
        retryAfter: '30',
        text: '',
      })
    })

    test.each([
      ['message: a string', 'text', 429, 'text/plain; charset=utf-8', 'slow down'],
      ['message: an object', 'object', 429, 'application/json; charset=utf-8', '{"error":"slow down"}'],
      ['statusCode', 'status', 420, 'text/plain; charset=utf-8', TOO_MANY],
    ] as const)('answers by %s', async (_option, scenario, status, type, text) => {
      await exhaust(scenario)
      const denied = await sendTo(scenario)
      expect(denied).toMatchObject({ status, text, headers: { 'content-type': type, 'retry-after': '30' } })
      expect(await signals.countOf(`handled /${scenario}`)).toBe(2)
    })

    test('answers by onDenied, with the headers set', async () => {
      await exhaust('answered')
      const denied = await sendTo('answered')
      expect(denied).toMatchObject({
        status: 420,
        text: 'wait 30000 ms',
        headers: { 'retry-after': '30', 'cache-control': 'no-store', 'x-ratelimit-remaining': '0' },
      })
      expect(await signals.countOf('handled /answered')).toBe(2)
    })

    test('lets everything pass in report mode, without headers', async () => {
      await exhaust('reported')
      const { status, headers, text } = await sendTo('reported')
      expect({ status, quota: quotaHeaders({ headers }) }).toEqual({ status: 200, quota: {} })
      expect(JSON.parse(text)).toMatchObject({ allowed: false, remaining: 0, source: 'store' })
    })

    test('can be switched to report mode and back while it runs', async () => {
      expect(await statusesOf('switched', {}, {}, {})).toEqual([200, 200, 429])
      await signals.switchMode('report')
      const { status, headers, text } = await sendTo('switched')
      expect({ status, quota: quotaHeaders({ headers }) }).toEqual({ status: 200, quota: {} })
      expect(JSON.parse(text)).toMatchObject({ allowed: false, remaining: 0, source: 'store' })
      await signals.switchMode('enforce')
      expect(await sendTo('switched')).toMatchObject({ status: 429, headers: { 'retry-after': '30' } })
      expect(await signals.countOf('handled /switched')).toBe(3)
    })

    test('allows by onStoreError: "allow" where the store is away', async () => {
      const { status, headers, text } = await sendTo('open')
      expect({ status, quota: quotaHeaders({ headers }) }).toEqual({ status: 200, quota: {} })
      expect(JSON.parse(text)).toMatchObject({ allowed: true, source: 'fail-open' })
    })

    test('answers 503 by onStoreError: "deny" where the store is away', async () => {
      const { status, headers, text } = await sendTo('closed', { headers: JSON_TYPE })
      expect({ status, retryAfter: headers['retry-after'] }).toEqual({ status: 503, retryAfter: '1' })
      expect(JSON.parse(text)).toMatchObject({ type: REDUCED_CAPACITY, status: 503 })
      expect(await signals.countOf('handled /closed')).toBe(0)
    })

    test('limits in this process by default where the store is away', async () => {
      expect(JSON.parse((await sendTo('local')).text)).toMatchObject({ allowed: true, source: 'local' })
      expect(await statusesOf('local', {}, {})).toEqual([200, 429])
    })

    test('limits a client on IPv6 by the address of its connection', async () => {
      // Nobody is trusted, so the header gives nobody a bucket of its own.
      const statuses = await withHeader('network', 'x-forwarded-for', '192.0.2.1', '192.0.2.2', '192.0.2.3')
      expect(statuses).toEqual([200, 200, 429])
    })

    test('limits IPv6 clients behind a proxy by their networks of 56 bits', async () => {
      const forwarded = (...addresses: string[]) => withHeader('forwarded', 'x-forwarded-for', ...addresses)
      const network = ['2001:db8:1234:5600::1', '2001:db8:1234:56ff::9', '2001:DB8:1234:5601:0::2']
      expect(await forwarded(...network)).toEqual([200, 200, 429])
      expect(await forwarded('2001:db8:1234:5700::1')).toEqual([200])
      expect(await forwarded('192.0.2.1', '::ffff:192.0.2.1', '::ffff:c000:201')).toEqual([200, 200, 429])
    })

    test('does not limit addresses in allow', async () => {
      expect(await statusesOf('exempt', {}, {}, {})).toEqual([200, 200, 200])
    })

    test('answers 403 to addresses in block', async () => {
      const { status, headers, text } = await sendTo('blocked')
      expect({ status, text }).toEqual({ status: 403, text: 'Forbidden.\n' })
      expect(headers).not.toHaveProperty('retry-after')
      expect(await signals.countOf('handled /blocked')).toBe(0)
    })

    test('does not charge what skip exempts', async () => {
      const statuses = await withHeader('skipped', 'x-skip', 'yes', 'yes', 'yes', 'no', 'no', 'no', 'yes')
      expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 200])
    })

    test('waits for async option functions', async () => {
      expect(await withHeader('awaited', 'x-skip', 'yes', 'no', 'no', 'yes')).toEqual([200, 200, 429, 200])
    })

    test('limits by user, and by address where there is none', async () => {
      expect(await withHeader('users', 'x-user', 'ada', 'ada', 'ada', 'bob')).toEqual([200, 200, 429, 200])
      expect(await statusesOf('users', {}, {}, {})).toEqual([200, 200, 429])
    })

    test('limits by a field of the parsed body', async () => {
      const login = (username: string) => ({
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ username }),
      })
      const requests = ['ada', 'Ada', 'ada', 'bob'].map(login)
      expect(await statusesOf('fields', ...requests)).toEqual([200, 200, 429, 200])
    })

    test('refunds what did not fail by count: "failed"', async () => {
      const statuses = await withHeader('failed', 'x-status', 200, 302, 399, 400, 500, 200)
      expect(statuses).toEqual([200, 302, 399, 400, 500, 429])
    })

    test('refunds what failed by count: "successful"', async () => {
      const statuses = await withHeader('successful', 'x-status', 400, 503, 404, 200, 201, 404)
      expect(statuses).toEqual([400, 503, 404, 200, 201, 429])
    })

    test('refunds by a count function', async () => {
      const statuses = await withHeader('judged', 'x-counts', 'no', 'no', 'no', 'yes', 'yes', 'no')
      expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
    })

    test('corrects a charge to the cost that is known after the response', async () => {
      const leftAfter = async (cost: string) => {
        const { status, headers } = await sendTo('metered', { headers: { 'x-cost': cost } })
        return [status, headers['x-ratelimit-remaining']]
      }
      expect(await leftAfter('0')).toEqual([200, '9'])
      expect(await leftAfter('4')).toEqual([200, '9']) // the one before cost nothing
      expect(await leftAfter('1')).toEqual([200, '5']) // and that one 4
      expect(await leftAfter('100')).toEqual([200, '4']) // takes what is left
      expect((await leftAfter('0'))[0]).toBe(429)
    })

    test('a client that hangs up while the handler runs stays charged', async () => {
      for (let i = 0; i < 2; i++) {
        const hangUp = await sendAndHold(running, 'handling', {
          path: '/hungUp',
          headers: { 'x-hold': 'yes' },
        })
        await hangUp()
      }
      expect((await sendTo('hungUp')).status).toBe(429)
      await signals.release() // and still after the handler has answered
      expect((await sendTo('hungUp')).status).toBe(429)
    })

    test('a client that hangs up while the store decides stays charged', async () => {
      const hangUp = await sendAndHold(running, 'charging', { path: '/late' })
      await hangUp()
      await signals.release()
      expect(await withHeader('late', 'x-status', 401, 200)).toEqual([401, 429])
    })

    test('a request in flight makes room once it is answered, even if its client has hung up', async () => {
      const isAllowed = async () => (await sendTo('inFlight')).status === 200
      const hangUp = await sendAndHold(running, 'handling', {
        path: '/inFlight',
        headers: { 'x-hold': 'yes' },
      })
      expect(await sendTo('inFlight')).toMatchObject({ status: 429, headers: { 'retry-after': '1' } })
      await hangUp()
      expect((await sendTo('inFlight')).status).toBe(429)
      await signals.release()
      for (let i = 0; i < 3; i++) await until('there is room', isAllowed)
    })

    test('several limiters on one route share its headers', async () => {
      const { headers } = await sendTo('several')
      expect(quotaHeaders({ headers })).toEqual({
        'x-ratelimit-limit': '2',
        'x-ratelimit-remaining': '1',
        'x-ratelimit-reset': '30',
        'ratelimit-policy': '"burst";q=2;w=60, "hour";q=9;w=3600',
        ratelimit: '"burst";r=1;t=30, "hour";r=8;t=400',
      })
      expect(await statusesOf('several', {}, {})).toEqual([200, 429])
    })

    test('a limiter that is mounted twice charges once', async () => {
      expect(quotaHeaders(await sendTo('twice')).ratelimit).toBe('"2-in-1min";r=1;t=30')
      expect(await statusesOf('twice', {}, {})).toEqual([200, 429])
    })

    test.each(['broken', 'brokenLater'] as const)(
      'what an option function throws goes to the error handling of the framework (%s)',
      async (scenario) => {
        expect((await sendTo(scenario)).status).toBe(500)
        expect(await signals.countOf(`handled /${scenario}`)).toBe(0)
      },
    )
  })
}

/** Returns the headers that describe a limit. */
function quotaHeaders({ headers }: Pick<Answer, 'headers'>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => /^(x-)?ratelimit/.test(name)))
}
