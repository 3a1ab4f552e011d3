import { METHODS } from 'node:http'
import { byHeader, byRoute, memoryStore, rateLimit } from 'headgate'
import { FRAMEWORKS, sayHello } from '../support/frameworks.js'
import { closeServers, send, sendRaw, serve, statuses, times } from '../support/http.js'

afterEach(closeServers)

const clock = () => 0
const CONNECT_IS_NO_REQUEST = new Set(['CONNECT']) // node:http gives it to another event

const ODD_URLS = [
  '*',
  '//',
  '///example.com//',
  '/%',
  '/%ff',
  '/%00',
  '/%c0%af',
  '/..%2f..%2fetc/passwd',
  '/\\..\\..',
  '/?',
  '/??',
  '/?a[__proto__]=1',
  '/?__proto__[x]=1&constructor=2',
  '/#',
  '/;jsessionid=1',
  '/\u00e9',
  '/<script>',
  '/{}|^`',
  'http://example.com/absolute',
  'http://[::1]:99999/',
  'http://%',
  'https:///',
  'javascript:alert(1)',
  'example.com:80',
  `/${'a/'.repeat(4000)}`,
  `/?${'a=1&'.repeat(2000)}`,
]

const ODD_HEADERS: readonly (readonly [string, string])[] = [
  ['Accept', ','.repeat(5000)],
  ['Accept', '*'],
  ['Accept', 'application/json;q=NaN'],
  ['Accept', 'application/json;q=-1, text/plain;q=1e9'],
  ['Accept', 'application/json;q="'],
  ['Accept', 'a/b;"c=d;e=\\'],
  ['Accept', 'application/json\tx'],
  ['Accept', '__proto__/constructor, application/json'],
  ['Accept', `application/json;${'q=0;'.repeat(3000)}`],
  ['X-Api-Key', ''],
  ['X-Api-Key', '\u00ff\u00fe\u0080'],
  ['X-Api-Key', 'x'.repeat(2048)],
  ['X-Api-Key', '__proto__'],
  ['X-Api-Key', '{}'],
  ['X-Forwarded-For', '\u00ff'],
  ['Forwarded', 'for="[::1'],
  ['Host', '@:@:@'],
  ['Cookie', '='.repeat(1000)],
  ['__proto__', 'x'],
  ['constructor', 'x'],
  ['Content-Length', '0'],
  ['Expect', '100-continue'],
  ['Connection', 'upgrade, close'],
]

describe.each(FRAMEWORKS)('on $name', ({ app }) => {
  beforeEach(() => {
    jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  })
  afterEach(() => {
    jest.restoreAllMocks()
  })

  test('every method that node takes is counted alike', async () => {
    const methods = METHODS.filter((method) => !CONNECT_IS_NO_REQUEST.has(method))
    const limiter = rateLimit({ limit: 5, window: '1h', store: memoryStore({ clock }) })
    const served = await serve(app(limiter, sayHello))
    const seen = await statuses(
      served,
      methods.map((method) => ({ method })),
    )
    expect(seen).toEqual([...Array(5).fill(200), ...Array(methods.length - 5).fill(429)])
  })

  test('byRoute has no more keys than there are methods, whatever the paths', async () => {
    const store = memoryStore({ clock })
    const served = await serve(app(rateLimit({ limit: 5, window: '1h', store, key: byRoute() }), sayHello))
    const seen = await statuses(
      served,
      Array.from({ length: 8 }, (_, i) => ({ path: `/${i}?${i}` })),
    )
    expect(seen).toEqual([200, 200, 200, 200, 200, 429, 429, 429])
    expect((await send(served, { method: 'HEAD' })).status).toBe(429)
    expect(store.size).toBe(1)
  })

  test('odd URLs neither bypass a limit nor fail', async () => {
    const limiter = rateLimit({ limit: 5, window: '1h', store: memoryStore({ clock }) })
    const served = await serve(app(limiter, sayHello))
    const raw = (url: string) =>
      sendRaw(served, Buffer.from(`GET ${url} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`, 'latin1'))
    for (const url of ODD_URLS) expect(await raw(url)).toMatch(/^HTTP\/1\.1 [234]\d\d /)
    expect(await statuses(served, times(5))).toContain(429)
    for (const url of ODD_URLS) expect(await raw(url)).toMatch(/^HTTP\/1\.1 4\d\d /)
  })

  test.each(ODD_HEADERS)('a header %s of %j neither bypasses a limit nor fails', async (name, value) => {
    const store = memoryStore({ clock })
    const limiter = rateLimit({ limit: 1, window: '1h', store, key: byHeader('x-api-key') })
    const served = await serve(app(limiter, sayHello))
    const host = name === 'Host' ? '' : 'Host: a\r\n'
    const close = name === 'Connection' ? '' : 'Connection: close\r\n'
    const request = Buffer.from(`GET / HTTP/1.1\r\n${host}${close}${name}: ${value}\r\n\r\n`, 'latin1')
    expect(await sendRaw(served, request)).toMatch(/HTTP\/1\.1 200 /)
    expect(await sendRaw(served, request)).toMatch(/HTTP\/1\.1 429 /)
    expect(store.size).toBe(1)
  })

  test('rotating header values that can be no key hits the limit of the address', async () => {
    const store = memoryStore({ clock })
    const limiter = rateLimit({ limit: 3, window: '1h', store, key: byHeader('x-api-key') })
    const served = await serve(app(limiter, sayHello))
    const sent = Array.from({ length: 10 }, (_, i) => ({ headers: { 'x-api-key': 'x'.repeat(1025 + i) } }))
    expect(await statuses(served, [...sent, {}])).toEqual([200, 200, 200, ...Array(8).fill(429)])
    expect(
      await statuses(served, [{ headers: { 'x-api-key': 'x'.repeat(1024) } }, { from: '127.0.0.2' }]),
    ).toEqual([200, 200])
    expect(store.size).toBe(3)
  })
})
