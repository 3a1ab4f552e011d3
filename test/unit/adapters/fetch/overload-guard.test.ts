import { Duplex } from 'node:stream'
import { overloadGuard } from 'headgate/fetch'
import { overloadGuard as overHttp } from 'headgate/http'
import { assumeIsolate } from '../../../../src/platform.js'
import { atMost } from '../../../support/overload.js'
import { recordWarnings } from '../../../support/warnings.js'

const INFO = { ip: '192.0.2.1' }
const request = (init: RequestInit = {}) => new Request('http://localhost/a', init)

const warnings = recordWarnings()

beforeEach(() => jest.useFakeTimers())
afterEach(() => jest.useRealTimers())

test('a request that is neither handled nor finished has its place for a minute, and no longer', async () => {
  const guard = overloadGuard(atMost(1))
  const denied = async () => (await guard(request(), INFO))?.status
  expect(await denied()).toBeUndefined()
  jest.advanceTimersByTime(59_999)
  expect(await denied()).toBe(503)
  expect(warnings()).toEqual([])
  jest.advanceTimersByTime(1)
  expect(await denied()).toBeUndefined()
  expect(guard.status().running).toBe(1)
  expect(warnings()).toEqual(['HEADGATE_NO_RESPONSE'])
})

test('the time that such a request took is not compared: the limit stays', async () => {
  const guard = overloadGuard({ maxWait: 0 })
  const respond = () => {
    jest.advanceTimersByTime(10)
    return new Response()
  }
  for (let i = 0; i < 40; i++) await guard.handle(request(), INFO, respond)
  const { limit } = guard.status()
  for (let i = 0; i < 15; i++) await guard(request(), INFO)
  jest.advanceTimersByTime(60_000)
  await guard.handle(request(), INFO, respond)
  expect(guard.status()).toMatchObject({ running: 0, limit })
})

test('a response that comes after a minute gives back no other place', async () => {
  const guard = overloadGuard(atMost(1))
  const late = request()
  await guard(late, INFO)
  jest.advanceTimersByTime(60_000)
  expect(await guard(request(), INFO)).toBeUndefined()
  expect(guard.finish(late, new Response('late')).status).toBe(200)
  expect(guard.status().running).toBe(1)
})

test('a request whose client has left has its place until its handler ends', async () => {
  const guard = overloadGuard(atMost(1))
  const client = new AbortController()
  const running: number[] = []
  const handled = guard.handle(request({ signal: client.signal }), INFO, async () => {
    jest.advanceTimersByTime(50)
    client.abort()
    jest.advanceTimersByTime(49)
    running.push(guard.status().running)
    return new Response()
  })
  await handled
  expect([...running, guard.status().running, jest.getTimerCount()]).toEqual([1, 0, 0])
})

test('a handler that goes on has its place for as long again, and for a minute at most', async () => {
  const guard = overloadGuard(atMost(9))
  const after = async (ms: number) => {
    const client = new AbortController()
    await guard(request({ signal: client.signal }), INFO)
    jest.advanceTimersByTime(ms)
    client.abort()
    jest.advanceTimersByTime(Math.min(ms, 60_000) - 1)
    const running = [guard.status().running]
    jest.advanceTimersByTime(1)
    return [...running, guard.status().running]
  }
  expect([await after(50), await after(30_000), await after(3_600_000)]).toEqual([
    [1, 0],
    [1, 0],
    [1, 0],
  ])
})

test('on isolates, a request whose client has left gives its place back at once', async () => {
  assumeIsolate(true)
  const guard = overloadGuard(atMost(1))
  const client = new AbortController()
  await guard(request({ signal: client.signal }), INFO)
  client.abort()
  assumeIsolate(undefined)
  expect([guard.status().running, jest.getTimerCount()]).toEqual([0, 0])
})

/** Returns the limit after requests of 10 ms, and others whose clients leave while they run on for 1 s. */
async function limitAfterLeaving(afterMs: number): Promise<number> {
  const guard = overloadGuard({ maxWait: 0, maxLimit: 20 })
  const respondAfter = (ms: number) => () => {
    jest.advanceTimersByTime(ms)
    return new Response()
  }
  for (let i = 0; i < 200; i++) await guard.handle(request(), INFO, respondAfter(10))
  for (let i = 0; i < 2; i++) {
    const held = Array.from({ length: 20 }, () => ({ client: new AbortController() }))
    const requests = held.map(({ client }) => request({ signal: client.signal }))
    for (const each of requests) await guard(each, INFO)
    jest.advanceTimersByTime(afterMs)
    for (const { client } of held) client.abort()
    jest.advanceTimersByTime(1000)
    for (const each of requests) guard.finish(each, new Response())
  }
  return guard.status().limit
}

test('clients that give up say that the server is slow, and those that cancel before say nothing', async () => {
  const [cancelled, gaveUp] = [await limitAfterLeaving(5), await limitAfterLeaving(200)]
  expect([cancelled, gaveUp < cancelled]).toEqual([20, true])
})

test('a slow report that begins later gets no quick request denied, also if nothing names routes', async () => {
  const guard = overloadGuard()
  const statuses: (number | undefined)[] = []
  for (let i = 0; i < 1000; i++) {
    const isReport = i > 300 && i % 5 === 0
    const each = new Request(`http://localhost/${isReport ? 'report/may' : 'page'}`)
    statuses.push((await guard(each, INFO))?.status)
    setTimeout(() => guard.finish(each, new Response()), isReport ? 1500 : 10)
    jest.advanceTimersByTime(10)
  }
  expect(statuses.filter((status) => status !== undefined)).toEqual([])
})

test('an upgrade that is never answered has its place for a minute', async () => {
  const guard = overHttp(atMost(1))
  const upgrade = () => {
    const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
    return { socket, req: { headers: {}, socket: Object.assign(socket, { remoteAddress: '192.0.2.1' }) } }
  }
  const passes = ({ req }: ReturnType<typeof upgrade>) => {
    let error: unknown = 'next was not called'
    guard(req as never, {} as never, (given) => {
      error = given
    })
    return error === undefined
  }
  expect(passes(upgrade())).toBe(true)
  expect(passes(upgrade())).toBe(false)
  jest.advanceTimersByTime(60_000)
  expect(guard.status().running).toBe(0)
  const opened = upgrade()
  expect(passes(opened)).toBe(true)
  opened.socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
  expect([guard.status().running, jest.getTimerCount()]).toEqual([0, 0])
  const closed = upgrade()
  expect(passes(closed)).toBe(true)
  const isClosed = new Promise((resolve) => closed.socket.once('close', resolve))
  closed.socket.destroy()
  await isClosed
  expect([guard.status().running, jest.getTimerCount()]).toEqual([0, 0])
})

test('a Request object that is passed again after its response takes a place again', async () => {
  const guard = overloadGuard(atMost(1))
  const same = request()
  const running: number[] = []
  const respond = () => {
    running.push(guard.status().running)
    return new Response()
  }
  for (let i = 0; i < 3; i++) await guard.handle(same, INFO, respond)
  await guard(request(), INFO)
  const { status } = await guard.handle(same, INFO, respond)
  expect([running, status]).toEqual([[1, 1, 1], 503])
})
