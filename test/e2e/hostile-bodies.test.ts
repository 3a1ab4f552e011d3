import express, { type Express } from 'express'
import express4 from 'express4'
import { byField, byIp, memoryStore, rateLimit, slidingWindow } from 'headgate'
import { closeServers, type Sent, type Served, send, serve, statuses, times } from '../support/http.js'

const LIMIT = 3
const store = memoryStore({ clock: () => 0, maxKeys: 500 })
const apps: readonly (readonly [string, () => Express])[] = [
  ['Express 5', express],
  ['Express 4', express4],
]

let clients = 0
const newAddress = () => `127.1.${clients >> 8}.${++clients & 255}`

const json = (body: unknown): Sent => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})
const form = (body: string): Sent => ({
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body,
})

/**
 * Bodies in which no user name can be found, one for each way in which a parser can return them. Of what a
 * field can hold, `by-field.test.ts` has more. One address that sends them in turn has one bucket.
 */
const MALFORMED: readonly (readonly [string, Sent])[] = [
  ['no body', { method: 'POST' }],
  ['an array in a form', form('username[]=bob&username[]=eve')],
  ['an object in a form', form('username[name]=bob')],
  ['__proto__ in a form', form('__proto__[username]=bob')],
  ['NUL in a form', form('username=bob%00')],
  ['10,000 fields', form(Array.from({ length: 10_000 }, (_, i) => `f${i}=bob`).join('&'))],
  ['null', json({ username: null })],
  ['an array', json({ username: ['bob'] })],
  ['an object', json({ username: { name: 'bob' } })],
  ['a nested object', json(`${'{"username":'.repeat(1000)}1${'}'.repeat(1000)}`)],
  ['__proto__ in JSON', json('{"__proto__":{"username":"bob"}}')],
  ['an array as the body', json(['bob'])],
  ['a number that is infinite', json('{"username":1e999}')],
  ['a lone surrogate', json('{"username":"bob\\ud800"}')],
  ['letters that are too long only when normalised', json({ username: '\ufdfa'.repeat(1000) })],
  ['a body of another type', { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'bob' }],
]

/** Bodies that the body parser itself rejects. */
const REJECTED_BODIES: readonly (readonly [string, Sent])[] = [
  ['broken JSON', json('{"username":')],
  ['JSON that is no object', json('"bob"')],
  ['an unknown charset', { ...json({}), headers: { 'content-type': 'application/json; charset=klingon' } }],
  [
    'an unknown encoding',
    { ...json({}), headers: { 'content-type': 'application/json', 'content-encoding': 'x' } },
  ],
  ['a body above its size limit', json({ username: 'b'.repeat(200_000) })],
]

/** Ways to write bob. */
const BOB: readonly (readonly [string, Sent])[] = [
  ['a form', form('username=bob')],
  ['blanks around', form('username=+bob+')],
  ['capitals', json({ username: 'BOB' })],
  ['full-width letters', json({ username: '\uff22\uff4f\uff42' })],
  ['a no-break space', json({ username: 'bob\u00a0' })],
  ['other fields besides', json({ username: 'bob', ip: '1.2.3.4', key: 'eve' })],
]

/** User names of different accounts. */
const NAMES = [
  'eve',
  'jos\u00e9',
  'jose',
  '__proto__',
  'constructor',
  'toString',
  '0',
  '',
  '{bob}',
  'bob|eve',
  'bob:1',
  'malformed:127.0.0.1',
]

describe.each(apps)('byField on %s', (_name, make) => {
  let served: Served
  beforeEach(async () => {
    jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    const limiter = rateLimit({ limit: LIMIT, window: '1h', name: 'login', store, key: byField('username') })
    const app = make().use(express.urlencoded({ extended: true, parameterLimit: 20_000, limit: '200kb' }))
    served = await serve(app.use(express.json(), limiter, (_req, res) => void res.end()))
  })
  afterEach(async () => {
    await closeServers()
    jest.restoreAllMocks()
  })

  test.each(MALFORMED)(
    '%s is limited, and shares its bucket with all malformed input of the address',
    async (_what, sent) => {
      const from = newAddress()
      const other = json({ username: [from] })
      expect((await send(served, { ...sent, from })).status).toBe(200)
      expect(await statuses(served, times(LIMIT, { ...other, from }))).toEqual([200, 200, 429])
      expect((await send(served, { ...sent, from })).status).toBe(429)
      expect((await send(served, { ...sent, from: newAddress() })).status).toBe(200) // another address is not charged for it
    },
  )

  test('rotating malformed bodies from one address hits the limit', async () => {
    const from = newAddress()
    const seen = await statuses(
      served,
      MALFORMED.map(([, sent]) => ({ ...sent, from })),
    )
    expect(seen).toEqual([...Array(LIMIT).fill(200), ...Array(MALFORMED.length - LIMIT).fill(429)])
  })

  test.each(REJECTED_BODIES)('the body parser rejects %s', async (_what, sent) => {
    const { status } = await send(served, sent)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(500)
  })

  test('spellings of one name are one bucket, from wherever they come', async () => {
    const fresh = rateLimit({ limit: LIMIT, window: '1h', key: byField('username') })
    const app = make().use(express.urlencoded({ extended: true }), express.json(), fresh)
    const own = await serve(app.use((_req, res) => void res.end()))
    const seen = await statuses(
      own,
      BOB.map(([, sent]) => ({ ...sent, from: newAddress() })),
    )
    expect(seen).toEqual([200, 200, 200, 429, 429, 429])
  })

  test('each name has a bucket of its own', async () => {
    const fresh = rateLimit({ limit: 1, window: '1h', key: byField('username') })
    const app = make().use(express.json(), fresh)
    const own = await serve(app.use((_req, res) => void res.end()))
    const each = NAMES.map((username) => json({ username }))
    expect(await statuses(own, each)).toEqual(NAMES.map(() => 200))
    expect(await statuses(own, each)).toEqual(NAMES.map(() => 429))
  })

  test('made-up names from one address hit the limit of the address, and fill no more than maxKeys', async () => {
    const small = memoryStore({ maxKeys: 50, clock: () => 0 })
    const limits = [
      { name: 'ip', policy: slidingWindow({ limit: 100, window: '1h' }), key: byIp() },
      { name: 'account', policy: slidingWindow({ limit: 5, window: '1h' }), key: byField('username') },
    ]
    const app = make().use(express.json(), rateLimit({ limits, store: small }))
    const own = await serve(app.use((_req, res) => void res.end()))
    const seen = await statuses(
      own,
      Array.from({ length: 120 }, (_, i) => json({ username: `user-${i}` })),
    )
    expect(seen.filter((status) => status === 200).length).toBeLessThanOrEqual(100)
    expect(seen.slice(-20)).toEqual(Array(20).fill(429))
    expect(small.size).toBeLessThanOrEqual(50)
  })
})

test('the malformed bodies of this file leave a bounded number of keys', () => {
  expect(store.size).toBeGreaterThan(0)
  expect(store.size).toBeLessThanOrEqual(500)
})
