import express from 'express'
import { byIp, memoryStore, rateLimit } from 'headgate'
import { FRAMEWORKS, NODE_HTTP, sayHello } from '../support/frameworks.js'
import { closeServers, type Sent, send, serve, statuses } from '../support/http.js'

afterEach(closeServers)
beforeEach(() => {
  jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
})
afterEach(() => {
  jest.restoreAllMocks()
})

const store = () => memoryStore({ clock: () => 0, maxKeys: 1000 })
const forwarded = (chain: string, from = '127.0.0.1'): Sent => ({
  from,
  headers: { 'x-forwarded-for': chain },
})

/** What is no address; each falls back to the address of the socket. */
const NO_ADDRESSES = [
  '',
  ' ',
  'unknown',
  '_hidden',
  'localhost',
  '256.1.1.1',
  '1.2.3',
  '1.2.3.4.5',
  '01.02.03.04',
  '0x7f.0.0.1',
  '2130706433',
  '-1.2.3.4',
  '1.2.3.4/8',
  '1.2.3.4 5.6.7.8',
  '1.2.3.4;',
  '1.2.3.4:port',
  '::1::2',
  '[::1',
  '2001:db8:::1',
  '12345::1',
  '::ffff:1.2.3.256',
  "' OR 1=1 --",
  '<script>',
  '__proto__',
  'constructor',
  '{}',
  'hg:3:default:{127.0.0.1}',
  'caf\u00e9',
  '1'.repeat(8000),
  ':'.repeat(8000),
  ','.repeat(4000),
  ', , ,',
]

/** Ways to write 192.0.2.1. */
const ONE_IPV4 = [
  '192.0.2.1',
  ' 192.0.2.1 ',
  '192.0.2.1:80',
  '192.0.2.1:65535',
  '::ffff:192.0.2.1',
  '::FFFF:192.0.2.1',
  '::ffff:c000:201',
  '0:0:0:0:0:ffff:c000:0201',
  '[::ffff:192.0.2.1]',
  '[::ffff:192.0.2.1]:443',
  '64:ff9b::192.0.2.1',
  '64:ff9b::c000:201',
]

/** Ways to write addresses of one home, 2001:db8:1234:5600::/56. */
const ONE_HOME = [
  '2001:db8:1234:5600::1',
  '2001:DB8:1234:5600::1',
  '2001:0db8:1234:5600:0000:0000:0000:0001',
  '[2001:db8:1234:5600::1]',
  '[2001:db8:1234:5600::2]:8080',
  '2001:db8:1234:5600::1%eth0',
  '2001:db8:1234:56ff:ffff:ffff:ffff:ffff',
  '2001:db8:1234:5678::1.2.3.4',
]

/** Servers that believe one proxy in front, which runs on this machine. */
const ONE_PROXY = [
  ...FRAMEWORKS.filter(({ name }) => !name.startsWith('Express')).map(({ name, app }) => ({
    name: `${name} with byIp({ trustProxy: 'loopback' })`,
    make: (limit: number) =>
      app(
        rateLimit({ limit, window: '1h', store: store(), key: byIp({ trustProxy: 'loopback' }) }),
        sayHello,
      ),
  })),
  {
    name: "Express with 'trust proxy' 1",
    make: (limit: number) =>
      express()
        .set('trust proxy', 1)
        .use(rateLimit({ limit, window: '1h', store: store() }), sayHello),
  },
]

describe.each(ONE_PROXY)('$name', ({ make }) => {
  test('invalid addresses in rotation share one bucket, and do not fail', async () => {
    const served = await serve(make(5))
    const seen = await statuses(
      served,
      NO_ADDRESSES.map((chain) => forwarded(chain)),
    )
    expect(seen).toEqual([...Array(5).fill(200), ...Array(NO_ADDRESSES.length - 5).fill(429)])
  })

  test.each([
    ['one IPv4 address', ONE_IPV4],
    ['one home', ONE_HOME],
  ])('all spellings of %s are one client', async (_what, spellings) => {
    const served = await serve(make(1))
    const [first, ...others] = await statuses(
      served,
      spellings.map((chain) => forwarded(chain)),
    )
    expect(first).toBe(200)
    expect(others).toEqual(Array(spellings.length - 1).fill(429))
  })

  test('what the client wrote in front of the proxy’s entry changes nothing', async () => {
    const served = await serve(make(1))
    const chains = [
      '192.0.2.1',
      '1.1.1.1, 192.0.2.1',
      'x, y, z,192.0.2.1',
      '192.0.2.9,192.0.2.1',
      ',,192.0.2.1',
    ]
    const seen = await statuses(
      served,
      chains.map((chain) => forwarded(chain)),
    )
    expect(seen).toEqual([200, 429, 429, 429, 429])
  })

  test('neighbours do not share a bucket', async () => {
    const served = await serve(make(1))
    const clients = [
      '192.0.2.1',
      '192.0.2.10',
      '192.0.2.100',
      '1.92.0.2',
      '2001:db8:1234:5600::1',
      '2001:db8:1234:5700::1',
      '::1',
    ]
    const seen = await statuses(
      served,
      clients.map((chain) => forwarded(chain)),
    )
    expect(seen).toEqual(Array(clients.length).fill(200))
  })
})

describe('without a trusted proxy', () => {
  test.each(FRAMEWORKS)(
    'forwarding headers change nothing on $name, and clients do not share',
    async ({ app }) => {
      const served = await serve(app(rateLimit({ limit: 3, window: '1h', store: store() }), sayHello))
      const headers = [
        'x-forwarded-for',
        'forwarded',
        'x-real-ip',
        'client-ip',
        'true-client-ip',
        'cf-connecting-ip',
      ]
      const tries = headers.flatMap((name) => [1, 2].map((i) => ({ headers: { [name]: `192.0.2.${i}` } })))
      expect(await statuses(served, tries)).toEqual([...Array(3).fill(200), ...Array(9).fill(429)])
      expect((await send(served, forwarded('127.0.0.1', '127.0.0.2'))).status).toBe(200)
    },
  )

  test('a client that is no trusted proxy is not believed', async () => {
    const key = byIp({ trustProxy: ['127.0.0.1'] })
    const served = await serve(NODE_HTTP.app(rateLimit({ limit: 1, window: '1h', key }), sayHello))
    const seen = await statuses(
      served,
      ['192.0.2.1', '192.0.2.2'].map((chain) => forwarded(chain, '127.0.0.7')),
    )
    expect(seen).toEqual([200, 429])
  })
})

test("with 'trust proxy' true, an invalid address still shares the socket's bucket", async () => {
  const limiter = rateLimit({ limit: 5, window: '1h', store: store() })
  const served = await serve(express().set('trust proxy', true).use(limiter, sayHello))
  const seen = await statuses(
    served,
    NO_ADDRESSES.map((chain) => forwarded(chain)),
  )
  expect(seen).toEqual([...Array(5).fill(200), ...Array(NO_ADDRESSES.length - 5).fill(429)])
  expect(process.emitWarning).toHaveBeenCalledWith(
    expect.stringContaining("'trust proxy' is true"),
    expect.objectContaining({ code: 'HEADGATE_TRUSTS_EVERY_PROXY' }),
  )
})

test('a client that makes up addresses fills no more than maxKeys', async () => {
  const small = memoryStore({ maxKeys: 20, clock: () => 0 })
  const limiter = rateLimit({ limit: 1, window: '1h', store: small })
  const served = await serve(express().set('trust proxy', true).use(limiter, sayHello))
  const chains = Array.from({ length: 100 }, (_, i) => forwarded(`192.0.2.${i}`))
  const seen = await statuses(served, chains)
  expect(small.size).toBeLessThanOrEqual(20)
  expect(seen.filter((status) => status === 200)).toHaveLength(21) // 20 of their own, and one shared by all newcomers
})
