import type { RequestListener, ServerResponse } from 'node:http'
import net from 'node:net'
import { createLimiter, fixedWindow, type Limiter, memoryStore } from 'headgate'
import { type Dashboard, dashboard } from 'headgate/dashboard'
import { type EventStream, eventStream } from '../../src/dashboard/server/event-stream.js'
import { closeServers, type Served, send, serve } from '../support/http.js'
import { until } from '../support/servers/wait.js'
import { givenFigures, row } from '../unit/dashboard/server/page-figures.js'
import { MOUNTS, ON_NODE_HTTP, type OpenPage, openPage, SECURITY_HEADERS } from './dashboard-mounts.js'

const MAX_PAGES = 20
const EVERY_MS = 1000
const LONGEST_MS = 300_000

let api: Limiter<string>
let page: Dashboard
let pages: OpenPage[]

beforeEach(() => {
  const policy = fixedWindow({ limit: 5, window: '1h' })
  api = createLimiter<string>({ name: 'api', policy, key: (id) => id, store: memoryStore() })
  page = dashboard({ limiters: [api], authorize: () => true })
  pages = []
})
afterEach(async () => {
  jest.useRealTimers()
  jest.restoreAllMocks()
  page.close()
  for (const each of pages) each.close()
  await closeServers()
})

/** Has the timers of this process fire when a test says so; sockets stay real. */
function fakeTimers(): void {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] })
}

async function open(served: Served, path = '/stream'): Promise<OpenPage> {
  const opened = await openPage(served, path)
  pages.push(opened)
  return opened
}

describe.each(MOUNTS)('$name, an open page', (mount) => {
  test('gets the figures at once, and each second what was counted since', async () => {
    fakeTimers()
    const served = await serve(mount.serve(page))
    const opened = await open(served, `${mount.path}/stream?limiter=api`)
    expect(opened.status).toBe(200)
    expect(opened.headers).toMatchObject({ ...SECURITY_HEADERS, 'content-type': 'text/event-stream' })
    await until('the first frame has arrived', () => opened.frames().length === 1)
    expect(opened.sessions()).toEqual([{ canChange: true }])
    expect(opened.frames()[0]).toMatchObject({
      rows: [{ name: 'api', mode: 'enforce', store: 'memory', storeState: 'closed', deniedPerSecond: 0 }],
      series: { api: { stepMs: expect.any(Number) } },
      detail: {
        name: 'api',
        limits: [{ name: 'api', allowed: 0, denied: 0 }],
        denied: [],
        deniedClients: 0,
        matching: 0,
        near: [],
      },
    })
    for (let i = 0; i < 7; i++) await api.charge('ada')
    jest.advanceTimersByTime(EVERY_MS)
    await until('the next one has arrived', () => opened.frames().length === 2)
    const { rows, detail } = opened.frames()[1] ?? {}
    expect(rows).toMatchObject([{ name: 'api', deniedShare: 2 / 7 }])
    expect(detail).toMatchObject({
      limits: [
        {
          name: 'api',
          kind: 'fixed-window',
          limit: 5,
          windowMs: 3_600_000,
          isLocal: false,
          allowed: 5,
          denied: 2,
          peak: 1,
        },
      ],
      near: [{ limitName: 'api', limit: 5, remaining: 0 }],
      denied: [{ limitName: 'api', denied: 2 }],
      deniedClients: 1,
      matching: 1,
    })
    expect(detail?.denied[0]?.identity).toBe(detail?.near[0]?.identity)
  })
})

test('the first frame waits for what other processes reported', async () => {
  let read = (): void => undefined
  const figures = givenFigures({
    refresh: () =>
      new Promise<void>((resolve) => {
        read = resolve
      }).then(() => {
        figures.shown.rows = [row('api', 4)]
      }),
  })
  const stream = eventStream(figures)
  const served = await serve((_req, res) => stream.add(res, { search: '' }, { canChange: true }))
  const opened = await open(served)
  read()
  await until('the first frame has arrived', () => opened.frames().length > 0)
  expect(opened.frames()[0]?.rows).toEqual([row('api', 4)])
  stream.stop()
})

test('figures are taken only while a page is open', async () => {
  fakeTimers()
  const taken = jest.spyOn(api, 'candidateReport')
  const served = await serve(ON_NODE_HTTP.serve(page))
  jest.advanceTimersByTime(10 * EVERY_MS)
  expect(taken).not.toHaveBeenCalled()
  const opened = await open(served)
  await until('figures are taken', () => taken.mock.calls.length > 0)
  opened.close()
  await until('the page has left', () => connectionsOf(served).then((count) => count === 0))
  taken.mockClear()
  jest.advanceTimersByTime(10 * EVERY_MS)
  expect(taken).not.toHaveBeenCalled()
})

test('what has to flush its output, such as the package compression, does so after each frame', async () => {
  fakeTimers()
  const flush = jest.fn()
  const served = await serve((req, res) => page(req, Object.assign(res, { flush })))
  const opened = await open(served)
  await until('the first frame has arrived', () => opened.frames().length === 1)
  expect(flush).toHaveBeenCalledTimes(2) // after the head, and after the frame
  jest.advanceTimersByTime(EVERY_MS)
  await until('the next one has arrived', () => opened.frames().length === 2)
  expect(flush).toHaveBeenCalledTimes(3)
})

describe('of 20 pages', () => {
  test('a further one gets 503, and takes the place of one that is closed', async () => {
    const served = await serve(ON_NODE_HTTP.serve(page))
    await Promise.all(Array.from({ length: MAX_PAGES }, () => open(served)))
    expect(pages.map(({ status }) => status)).toEqual(Array(MAX_PAGES).fill(200))
    const { status, headers, text } = await send(served, { path: '/stream' })
    expect([status, headers['retry-after']]).toEqual([503, '10'])
    expect(text).toBe('{"error":"Too many pages are open. Close one of them."}')
    expect(headers).toMatchObject(SECURITY_HEADERS)
    pages[7]?.close()
    await until('the place is free', async () => (await open(served)).status === 200)
    expect((await send(served, { path: '/stream' })).status).toBe(503)
  })

  test('none is taken by a client that left while authorize was pending', async () => {
    const pending: (() => void)[] = []
    const authorize = () => new Promise<boolean>((resolve) => pending.push(() => resolve(true)))
    const slow = dashboard({ limiters: [api], authorize })
    const served = await serve((req, res) => (req.url === '/now/stream' ? page(req, res) : slow(req, res)))
    const sockets = Array.from({ length: MAX_PAGES }, () => net.connect(served.port, '127.0.0.1'))
    for (const socket of sockets) socket.write('GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await until('all wait for authorize', () => pending.length === MAX_PAGES)
    for (const socket of sockets) socket.destroy()
    await until('all have left', () => connectionsOf(served).then((count) => count === 0))
    for (const resolve of pending.splice(0)) resolve()
    const opening = open(served)
    await until('another waits for authorize', () => pending.length === 1)
    pending[0]?.()
    expect((await opening).status).toBe(200)
    slow.close()
  })
})

describe('a page that reads nothing', () => {
  const frameBytes = 12_000_000
  let frames = 0
  let stream: EventStream
  let res: ServerResponse | undefined
  let served: Served

  beforeEach(async () => {
    fakeTimers()
    res = undefined
    const figures = givenFigures({ rows: () => [row('x'.repeat(frameBytes), ++frames)] })
    stream = eventStream(figures)
    const listener: RequestListener = (_req, response) => {
      stream.add(response, { search: '' }, { canChange: true })
      res = response
    }
    served = await serve(listener)
    const client = net.connect(served.port, '127.0.0.1').pause()
    client.on('error', () => undefined) // the server resets the connection
    client.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await until('the connection takes no more', () => res && res.writableLength > 1_048_576)
  })

  test('misses frames, and memory does not grow', async () => {
    for (let i = 0; i < 20; i++) {
      jest.advanceTimersByTime(EVERY_MS)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(res?.writableLength).toBeLessThan(1.01 * frameBytes)
  })

  test('loses its connection after five minutes', async () => {
    jest.advanceTimersByTime(LONGEST_MS + 2 * EVERY_MS)
    await until('the connection is closed', () => connectionsOf(served).then((count) => count === 0))
    expect(res?.destroyed).toBe(true)
  })

  test('loses its connection when the dashboard is closed', async () => {
    stream.stop()
    await until('the connection is closed', () => connectionsOf(served).then((count) => count === 0))
  })
})

test('a page that reads is asked to come again after five minutes', async () => {
  fakeTimers()
  const served = await serve(ON_NODE_HTTP.serve(page))
  const opened = await open(served)
  jest.advanceTimersByTime(LONGEST_MS)
  await opened.ended
  jest.advanceTimersByTime(10 * EVERY_MS) // nothing is written to an ended response
  expect((await open(served)).status).toBe(200)
})

test('a response that something else has ended does not stop the other pages', async () => {
  fakeTimers()
  const responses: ServerResponse[] = []
  const served = await serve((req, res) => {
    responses.push(res)
    page(req, res)
  })
  await open(served)
  const opened = await open(served)
  responses[0]?.end()
  const before = opened.frames().length
  for (let i = 0; i < 3; i++) jest.advanceTimersByTime(EVERY_MS)
  await until('frames go on', () => opened.frames().length > before)
})

test('close ends the pages and the counting, so that the server can close', async () => {
  const started = jest.spyOn(globalThis, 'setInterval')
  const cleared = jest.spyOn(globalThis, 'clearInterval')
  const served = await serve(ON_NODE_HTTP.serve(page))
  const opened = await open(served)
  page.close()
  await opened.ended
  const closed = new Promise((resolve) => served.server.once('close', resolve))
  const handles = started.mock.results.map(({ value }) => value as unknown)
  expect(handles).toHaveLength(1)
  expect(cleared.mock.calls.flat()).toEqual(expect.arrayContaining(handles))
  expect(api.events.listenerCount('decision')).toBe(0)
  expect(await send(served, { path: '/stream' })).toMatchObject({
    status: 503,
    text: '{"error":"The dashboard is closed."}',
  })
  served.server.close()
  await closed // though no connection was closed by force
})

function connectionsOf({ server }: Served): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  )
}
