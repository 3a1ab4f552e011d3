import type { RequestListener, ServerResponse } from 'node:http'
import net from 'node:net'
import { createLimiter, fixedWindow, type Limiter, memoryStore } from 'headgate'
import { type Dashboard, dashboard } from 'headgate/dashboard'
import type { Board } from '../../src/dashboard/figures/board.js'
import { type EventStream, eventStream } from '../../src/dashboard/server/event-stream.js'
import { closeServers, type Served, send, serve } from '../support/http.js'
import { until } from '../support/servers/wait.js'
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

async function open(served: Served, path = '/events'): Promise<OpenPage> {
  const opened = await openPage(served, path)
  pages.push(opened)
  return opened
}

describe.each(MOUNTS)('$name, an open page', (mount) => {
  test('gets the figures at once, and each second what was counted since', async () => {
    fakeTimers()
    const served = await serve(mount.serve(page))
    const opened = await open(served, `${mount.path}/events`)
    expect(opened.status).toBe(200)
    expect(opened.headers).toMatchObject({ ...SECURITY_HEADERS, 'content-type': 'text/event-stream' })
    await until('the first snapshot has arrived', () => opened.snapshots().length === 1)
    expect(opened.snapshots()[0]).toMatchObject({
      slotMs: 5000,
      limiters: [{ name: 'api', mode: 'enforce', processes: 1, near: [], denied: [] }],
    })
    for (let i = 0; i < 7; i++) await api.charge('ada')
    jest.advanceTimersByTime(EVERY_MS)
    await until('the next one has arrived', () => opened.snapshots().length === 2)
    const shown = opened.snapshots()[1]?.limiters[0]
    expect(shown).toMatchObject({
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
      store: { name: 'memory', state: 'closed', keys: 1 },
    })
    expect(shown?.denied[0]?.identity).toBe(shown?.near[0]?.identity)
  })
})

test('the first snapshot waits for what other processes reported', async () => {
  let read = (): void => undefined
  let processes = 1
  const board = {
    refresh: () =>
      new Promise<void>((resolve) => {
        read = resolve
      }).then(() => {
        processes = 4
      }),
    snapshot: () => ({ processes }),
  }
  const stream = eventStream(board as unknown as Board)
  const served = await serve((_req, res) => stream.add(res))
  const opened = await open(served)
  read()
  await until('the first snapshot has arrived', () => opened.snapshots().length > 0)
  expect(opened.snapshots()[0]).toEqual({ processes: 4 })
  stream.stop()
})

test('snapshots are taken only while a page is open', async () => {
  fakeTimers()
  const snapshots = jest.spyOn(api, 'candidateReport')
  const served = await serve(ON_NODE_HTTP.serve(page))
  jest.advanceTimersByTime(10 * EVERY_MS)
  expect(snapshots).not.toHaveBeenCalled()
  const opened = await open(served)
  await until('a snapshot is taken', () => snapshots.mock.calls.length > 0)
  opened.close()
  await until('the page has left', () => connectionsOf(served).then((count) => count === 0))
  snapshots.mockClear()
  jest.advanceTimersByTime(10 * EVERY_MS)
  expect(snapshots).not.toHaveBeenCalled()
})

test('what has to flush its output, such as the package compression, does so after each snapshot', async () => {
  fakeTimers()
  const flush = jest.fn()
  const served = await serve((req, res) => page(req, Object.assign(res, { flush })))
  const opened = await open(served)
  await until('the first snapshot has arrived', () => opened.snapshots().length === 1)
  expect(flush).toHaveBeenCalledTimes(2) // after the head, and after the snapshot
  jest.advanceTimersByTime(EVERY_MS)
  await until('the next one has arrived', () => opened.snapshots().length === 2)
  expect(flush).toHaveBeenCalledTimes(3)
})

describe('of 20 pages', () => {
  test('a further one gets 503, and takes the place of one that is closed', async () => {
    const served = await serve(ON_NODE_HTTP.serve(page))
    await Promise.all(Array.from({ length: MAX_PAGES }, () => open(served)))
    expect(pages.map(({ status }) => status)).toEqual(Array(MAX_PAGES).fill(200))
    const { status, headers, text } = await send(served, { path: '/events' })
    expect([status, headers['retry-after']]).toEqual([503, '10'])
    expect(text).toBe('{"error":"Too many pages are open. Close one of them."}')
    expect(headers).toMatchObject(SECURITY_HEADERS)
    pages[7]?.close()
    await until('the place is free', async () => (await open(served)).status === 200)
    expect((await send(served, { path: '/events' })).status).toBe(503)
  })

  test('none is taken by a client that left while authorize was pending', async () => {
    const pending: (() => void)[] = []
    const authorize = () => new Promise<boolean>((resolve) => pending.push(() => resolve(true)))
    const slow = dashboard({ limiters: [api], authorize })
    const served = await serve((req, res) => (req.url === '/now/events' ? page(req, res) : slow(req, res)))
    const sockets = Array.from({ length: MAX_PAGES }, () => net.connect(served.port, '127.0.0.1'))
    for (const socket of sockets) socket.write('GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n')
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
  const snapshotBytes = 12_000_000
  const board = { refresh: async () => undefined, snapshot: () => 'x'.repeat(snapshotBytes) }
  let stream: EventStream
  let res: ServerResponse | undefined
  let served: Served

  beforeEach(async () => {
    fakeTimers()
    res = undefined
    stream = eventStream(board as unknown as Board)
    const listener: RequestListener = (_req, response) => {
      stream.add(response)
      res = response
    }
    served = await serve(listener)
    const client = net.connect(served.port, '127.0.0.1').pause()
    client.on('error', () => undefined) // the server resets the connection
    client.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await until('the connection takes no more', () => res && res.writableLength > 1_048_576)
  })

  test('misses snapshots, and memory does not grow', async () => {
    for (let i = 0; i < 20; i++) {
      jest.advanceTimersByTime(EVERY_MS)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(res?.writableLength).toBeLessThan(1.01 * snapshotBytes)
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
  const before = opened.snapshots().length
  for (let i = 0; i < 3; i++) jest.advanceTimersByTime(EVERY_MS)
  await until('snapshots go on', () => opened.snapshots().length > before)
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
  expect(await send(served, { path: '/events' })).toMatchObject({
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
