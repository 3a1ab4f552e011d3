import { Readable } from 'node:stream'
import { ban, createLimiter, fixedWindow, type Limiter, memoryStore } from 'headgate'
import { type Dashboard, type DashboardOptions, dashboard } from 'headgate/dashboard'
import { requestAndResponse } from '../../../support/request-response.js'
import { storeOf } from '../../../support/store-of.js'
import { recordWarnings } from '../../../support/warnings.js'

const policy = ban(fixedWindow({ limit: 3, window: '1h' }), { after: 3, within: '5m', for: '1h' })
const warnings = recordWarnings()

let api: Limiter<string>
let page: Dashboard

function open(authorize: DashboardOptions['authorize'] = () => true): Dashboard {
  api = createLimiter<string>({ name: 'api', policy, key: (id) => id, store: memoryStore() })
  page?.close()
  page = dashboard({ limiters: [api], authorize })
  return page
}

beforeEach(() => void open())
afterEach(() => page.close())

interface Sent {
  readonly method?: string
  readonly headers?: object
  readonly body?: unknown
  /** What Express and Connect add. */
  readonly originalUrl?: string
  readonly next?: (error?: unknown) => void
  /** Prepares the response, before the page answers it. */
  readonly prepare?: (res: ReturnType<typeof requestAndResponse>['res']) => void
}

interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

/** Sends a request to the page, and resolves when it is answered, or passed on. */
function send(url: string | undefined, sent: Sent = {}): Promise<Answered> {
  const { method = 'GET', headers = {}, body, originalUrl, next, prepare } = sent
  const { req, res } = requestAndResponse(method)
  if (url === undefined) Reflect.deleteProperty(req, 'url')
  else req.url = url
  if (originalUrl !== undefined) Object.assign(req, { originalUrl })
  Object.assign(req.headers, { host: 'localhost', ...headers })
  if (body !== undefined) {
    for (const chunk of [JSON.stringify(body), null]) req.push(chunk)
  }
  prepare?.(res)
  return new Promise((resolve, reject) => {
    const end = (content?: unknown) => {
      resolve({ status: res.statusCode, headers: res.getHeaders(), text: String(content ?? '') })
      return res
    }
    jest.spyOn(res, 'end').mockImplementation(end)
    const passOn = (error?: unknown) => {
      if (error === undefined) reject(new Error('passed on'))
      next?.(error)
      end()
    }
    page(req, res, next && passOn)
  })
}

const act = (path: string, body: unknown, sent: Sent = {}) =>
  send(path, {
    method: 'POST',
    body,
    ...sent,
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', ...sent.headers },
  })

const errorOf = ({ status, text }: Answered) => [status, JSON.parse(text).error]

describe('a file of the page', () => {
  test.each([
    ['/', 'text/html; charset=utf-8', '<title>Rate limits</title>'],
    ['/?a=/b', 'text/html; charset=utf-8', '<title>Rate limits</title>'],
    ['/page.css', 'text/css; charset=utf-8', ':root {'],
    ['/tokens.css', 'text/css; charset=utf-8', '--brand:'],
    ['/inter-license.txt', 'text/plain; charset=utf-8', 'SIL OPEN FONT LICENSE'],
    ['/main.js?v=1', 'text/javascript; charset=utf-8', 'import '],
    ['/icon.svg', 'image/svg+xml', '<svg'],
    ['/deep/overview.css', 'text/css; charset=utf-8', '.overview'],
  ])('is served at %s', async (path, type, content) => {
    const { status, headers, text } = await send(path, { originalUrl: path })
    expect([status, headers['content-type']]).toEqual([200, type])
    expect(text).toContain(content)
    expect(headers['content-length']).toBe(Buffer.byteLength(text))
    const head = await send(path, { originalUrl: path, method: 'HEAD' })
    expect([head.text, head.headers]).toEqual(['', headers])
  })

  test('may be a font', async () => {
    const { status, headers } = await send('/inter.woff2')
    expect([status, headers['content-type']]).toEqual([200, 'font/woff2'])
  })

  test.each(['/none', '/none.css', '/..', '/page.css/none'])('is none at %s', async (path) => {
    expect(errorOf(await send(path, { originalUrl: path }))).toEqual([404, 'There is no such page.'])
  })

  test('has headers that keep it from caches, frames and other origins', async () => {
    for (const path of ['/', '/none.css', '/lookup'])
      expect((await send(path)).headers).toMatchObject({
        'cache-control': 'no-store',
        'content-security-policy':
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; " +
          "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      })
  })
})

describe('the slash at the end of its folder', () => {
  test.each<[string, string | undefined, string | undefined, string | undefined]>([
    ['mounted by Express', '/', '/admin/limits', './limits/'],
    ['mounted by Express, with a query', '/?a=/b/', '/admin/limits?a=/b/', './limits/'],
    ['mounted by Express, with the slash', '/', '/admin/limits/', undefined],
    ['alone on node:http', '/limits', undefined, './limits/'],
    ['alone on node:http, with the slash', '/limits/', undefined, undefined],
    ['alone on node:http, at the root', '/', undefined, undefined],
  ])('is added: %s', async (_, url, originalUrl, location) => {
    const { status, headers, text } = await send(url, originalUrl === undefined ? {} : { originalUrl })
    if (location === undefined) expect(status).toBe(200)
    else expect([status, headers.location, text]).toEqual([308, location, ''])
  })

  test('is not added to what is spelled like a file', async () => {
    expect((await send('/none.css')).status).toBe(404)
    expect((await send('/a%2fb')).status).toBe(404)
    expect((await send(undefined)).status).toBe(200)
  })
})

test.each<readonly [method: string, path: string, allow: string]>([
  ...['POST', 'PUT', 'DELETE', 'OPTIONS'].map((method) => [method, '/', 'GET, HEAD'] as const),
  ['HEAD', '/stream', 'GET'],
  ['POST', '/stream', 'GET'],
  ...['GET', 'HEAD', 'PUT'].flatMap((method) =>
    ['/lookup', '/release', '/override'].map((path) => [method, path, 'POST'] as const),
  ),
])('%s %s is a 405, with what can be used', async (method, path, allow) => {
  const { status, headers, text } = await send(path, { method })
  expect([status, headers.allow]).toEqual([405, allow])
  if (method !== 'HEAD') expect(JSON.parse(text)).toEqual({ error: `Use ${allow}.` })
})

test.each(['/stream', '/history', '/history?limiter=api', '/log'])(
  'another site does not get %s, which would take the place of a page, or read the store',
  async (path) => {
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'http://evil.example' }])
      expect(errorOf(await send(path, { headers }))).toEqual([
        403,
        expect.stringContaining('The request comes from another site.'),
      ])
    expect((await send('/', { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(200) // a link
  },
)

describe('authorize', () => {
  test.each([
    ['false', false],
    ['a promise of false', Promise.resolve(false)],
    ['1', 1],
    ['nothing', undefined],
  ])('that returns %s lets nobody in', async (_, answer) => {
    open(() => answer as boolean)
    for (const path of ['/', '/stream', '/none'])
      expect(errorOf(await send(path))).toEqual([403, 'You are not allowed to see this page.'])
    expect(errorOf(await act('/lookup', { identity: 'ada' }))[0]).toBe(403)
  })

  test("that returns 'view' lets a visitor see everything, and change nothing", async () => {
    open(async () => 'view' as const)
    await api.charge('ada')
    for (const path of ['/', '/history', '/log']) expect((await send(path)).status).toBe(200)
    expect((await act('/lookup', { identity: 'ada' })).status).toBe(200)
    const ada = { targets: [{ identity: 'ada' }], limiter: 'api', effect: 'block', durationMs: 60_000 }
    for (const path of ['/release', '/override'])
      expect(errorOf(await act(path, ada))).toEqual([403, 'You may see this page, but not change anything.'])
    expect((await api.peek('ada')).remaining).toBe(2)
  })

  test('gets the request and the response, which it may answer itself', async () => {
    const seen: unknown[] = []
    open((req, res) => {
      seen.push(req.url)
      res.statusCode = 401
      res.end('log in')
      Object.defineProperty(res, 'writableEnded', { value: true })
      return true
    })
    const { status, text } = await send('/')
    expect([seen, status, text]).toEqual([['/'], 401, 'log in'])
  })

  test('that fails is an error for next, or a 500 with a warning', async () => {
    const broken = new Error('no database')
    open(() => Promise.reject(broken))
    const next = jest.fn()
    await send('/', { next })
    expect(next.mock.calls).toEqual([[broken]])
    expect(warnings()).toEqual([])
    expect(errorOf(await send('/'))).toEqual([500, 'The dashboard failed.'])
    expect(warnings()).toEqual(['HEADGATE_DASHBOARD_FAILED'])
    expect(jest.mocked(process.emitWarning).mock.calls[0]?.[0]).toBe(
      'headgate: a request to the dashboard failed (no database). ' +
        'See https://headgate.github.io/headgate/troubleshooting#headgate_dashboard_failed',
    )
  })
})

describe('an action', () => {
  const remaining = async () => (await api.peek('ada')).remaining
  const target = { targets: [{ identity: 'ada' }], limiter: 'api' }
  const ada = { ...target, by: 'ines', reason: 'ticket 7' }
  const block = { effect: 'block', durationMs: 60_000 }

  test.each([
    ['/release', {}],
    ['/override', block],
  ])('%s that is sent again, because its reply was lost, is made once and logged once', async (path, own) => {
    const sent = { ...ada, ...own, id: 'the-first' }
    const [first, atOnce] = await Promise.all([act(path, sent), act(path, sent)])
    for (let i = 0; i < 9; i++) await api.charge('ada') // it is banned, or its ban would begin again
    const [before] = [await api.peek('ada')]
    const later = await act(path, sent)
    expect([first.status, atOnce.text, later.text]).toEqual([200, first.text, first.text])
    const { allowed, retryAfterMs } = await api.peek('ada')
    expect(allowed).toBe(before.allowed)
    expect(retryAfterMs).toBeLessThanOrEqual(before.retryAfterMs)
    expect((await send('/log')).text.match(/"kind":"(?:release|block)"/g)).toHaveLength(1)
    await act(path, { ...sent, id: 'the-second' })
    expect((await send('/log')).text.match(/"kind":"(?:release|block)"/g)).toHaveLength(2)
    expect(errorOf(await act(path, { ...sent, id: 'x'.repeat(65) }))).toEqual([
      400,
      'id must be 1 to 64 letters, digits, dots, dashes or underscores.',
    ])
  })

  test('looks up, releases and blocks', async () => {
    await api.charge('ada')
    const { status, text, headers } = await act('/lookup', { identity: 'ada' })
    expect([status, headers['content-type']]).toEqual([200, 'application/json'])
    expect(JSON.parse(text)).toMatchObject({ found: [{ limiter: 'api', standings: [{ remaining: 2 }] }] })
    expect(await act('/release', ada)).toMatchObject({ status: 200, text: '{"count":1}' })
    expect(await remaining()).toBe(3)
    expect(JSON.parse((await act('/override', { ...ada, ...block })).text)).toMatchObject({ count: 1 })
    const { allowed, retryAfterMs } = await api.charge('ada')
    expect([allowed, Math.ceil(retryAfterMs / 60_000)]).toEqual([false, 1])
  })

  test.each<readonly [operator: string | undefined, sent: object, logged: object]>([
    ['grace', { by: 'mallory', reason: ' ticket 7 ' }, { by: 'grace', reason: 'ticket 7' }],
    [undefined, { by: ' ada ', reason: 'x' }, { by: 'ada', reason: 'x' }],
    [' ', { by: 'ada', reason: 'x' }, { by: 'ada', reason: 'x' }],
  ])(
    'of the operator %j, sent with %j, is logged with who did it and why',
    async (operator, sent, logged) => {
      page.close()
      const authorize = () => true
      page = dashboard({
        limiters: [api],
        authorize,
        ...(operator !== undefined && { operator: () => operator }),
      })
      await api.charge('ada')
      await act('/release', { ...target, ...sent })
      await act('/override', { ...target, ...sent, ...block })
      const lines = (await send('/log')).text.trim().split('\n')
      const about = {
        id: expect.any(String),
        atMs: expect.any(Number),
        limiter: 'api',
        details: { identities: ['ada'] },
      }
      expect(lines.map((line) => JSON.parse(line))).toEqual([
        { ...about, kind: 'release', text: 'released ada', ...logged },
        {
          ...about,
          kind: 'block',
          text: expect.stringMatching(/^blocked ada until \{\d+\}$/),
          ...logged,
          details: { identities: ['ada'], untilMs: expect.any(Number) },
        },
      ])
    },
  )

  test.each<[string, string, object, Sent, number, string]>([
    [
      'by a name that is no string',
      '/release',
      { ...ada, by: 7 },
      {},
      400,
      'by must be a string of at most 200 characters.',
    ],
    [
      'for a reason that is a book',
      '/release',
      { ...ada, reason: 'x'.repeat(501) },
      {},
      400,
      'reason must be a string of at most 500 characters.',
    ],
    [
      'from another site',
      '/release',
      ada,
      { headers: { 'sec-fetch-site': 'cross-site' } },
      403,
      'The request comes from another site.',
    ],
    [
      'without JSON',
      '/release',
      ada,
      { headers: { 'content-type': 'text/plain' } },
      415,
      'The body must be application/json.',
    ],
    ['of no limiter', '/release', { ...ada, limiter: 'none' }, {}, 404, 'There is no such limiter.'],
    ['of no identity', '/lookup', {}, {}, 400, 'identity must be a string.'],
    [
      'of what can be no identity',
      '/release',
      { ...ada, targets: [{ identity: '' }] },
      {},
      400,
      expect.stringContaining('1 to 1024 characters, without NUL or unpaired surrogates') as never,
    ],
    [
      'of nobody',
      '/release',
      { ...target, reason: 'x' },
      {},
      400,
      'Say who you are: add by, the name of whoever makes the change.',
    ],
    [
      'of no reason',
      '/override',
      { ...target, ...block, by: 'ines', reason: ' ' },
      {},
      400,
      'A reason is required: add reason, which the history keeps with the change.',
    ],
    [
      'of no length',
      '/override',
      { ...ada, effect: 'block' },
      {},
      400,
      expect.stringMatching(/^dashboard: durationMs must be .* Did you mean durationMs: '1m'\?/) as never,
    ],
    [
      'of too long a block',
      '/override',
      { ...ada, effect: 'block', durationMs: 7_200_000 },
      {},
      400,
      expect.stringContaining("Add '2h'") as never,
    ],
  ])('%s is refused', async (_, path, body, sent, status, error) => {
    await api.charge('ada')
    expect(errorOf(await act(path, body, sent))).toEqual([status, error])
    expect(await remaining()).toBe(2)
  })

  test('is a 503 while the store is away', async () => {
    const forget = () => Promise.reject(new Error('lost'))
    const store = storeOf({ ...memoryStore(), name: 'remote', forget })
    api = createLimiter<string>({ name: 'api', policy, key: (id) => id, store })
    page.close()
    page = dashboard({ limiters: [api], authorize: () => true })
    expect(errorOf(await act('/release', ada))).toEqual([503, 'remote: lost'])
  })
})

describe('an open page', () => {
  test('is refused once the dashboard is closed, as actions are, and nothing more is counted', async () => {
    expect(api.events.listenerCount('decision')).toBe(1)
    page.close()
    const sent = [
      send('/stream'),
      ...['release', 'override', 'lookup', 'undo'].map((name) => act(`/${name}`, { limiter: 'api' })),
    ]
    const closed = [503, 'The dashboard is closed.']
    expect((await Promise.all(sent)).map(errorOf)).toEqual(sent.map(() => closed))
    expect(api.events.listenerCount('decision')).toBe(0)
  })

  test('is a stream of frames, which begins with what the visitor may do', async () => {
    const written: unknown[] = []
    void send('/stream', {
      prepare: (res) =>
        jest.spyOn(res, 'write').mockImplementation((text: unknown) => written.push(text) > 0),
    })
    for await (const _ of Readable.from([1, 2])); // lets authorize be awaited
    await new Promise((resolve) => setImmediate(resolve))
    expect(written.join('')).toMatch(
      /^retry: 2000\n\nevent: session\ndata: \{"canChange":true\}\n\ndata: \{"atMs":\d+,"rows":\[\{"name":"api"/,
    )
  })
})
