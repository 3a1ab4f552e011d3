import { Duplex } from 'node:stream'
import { overloadGuard } from 'headgate/fetch'
import { overloadGuard as overHttp } from 'headgate/http'
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

test('a request whose signal aborts gives its place back at once', async () => {
  const guard = overloadGuard(atMost(1))
  const client = new AbortController()
  await guard(request({ signal: client.signal }), INFO)
  expect(guard.status().running).toBe(1)
  client.abort()
  expect(guard.status().running).toBe(0)
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
