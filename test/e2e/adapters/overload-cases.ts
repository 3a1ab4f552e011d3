import { type Answer, type Sent, send } from '../../support/http.js'
import { until } from '../../support/servers/wait.js'
import { recordWarnings } from '../../support/warnings.js'
import type { Running } from './application.js'
import type { Adapter } from './cases.js'
import { sendAndHold } from './hold.js'
import type { OverloadName } from './scenarios.js'
import { type RemoteSignals, signalsAt } from './signals.js'

const HOLD = { 'x-hold': 'yes' }
const BUSY = 'Service temporarily unavailable. Try again in N seconds.\n'

/** Declares the cases of overload guards that hold for every adapter, over real sockets. */
export function overloadCases({ name, start }: Adapter): void {
  let running: Running
  let signals: RemoteSignals
  recordWarnings()

  beforeAll(async () => {
    running = await start()
    signals = signalsAt(running.signalPort)
  })

  afterAll(() => running.close())

  const sendTo = (path: OverloadName, sent: Sent = {}): Promise<Answer> =>
    send({ ...running, host: '::1' }, { path: `/${path}`, ...sent })
  const statusOf = async (path: OverloadName, headers: Sent['headers'] = {}) =>
    (await sendTo(path, { headers })).status
  /** Has a request take a place, and returns what hangs up. */
  const hold = (path: OverloadName, headers = {}) =>
    sendAndHold(running, 'handling', { path: `/${path}`, headers: { ...HOLD, ...headers } })
  const isFree = (path: OverloadName) => until('there is a place', async () => (await statusOf(path)) === 200)

  describe(`an overload guard, ${name}`, () => {
    afterEach(() => signals.release())

    test('denies requests beyond its limit with 503, and gives places back with responses', async () => {
      await hold('crowded')
      const { status, headers, text } = await sendTo('crowded', { headers: { accept: 'application/json' } })
      expect({ status, type: headers['content-type'], cache: headers['cache-control'] }).toEqual({
        status: 503,
        type: 'application/problem+json',
        cache: 'no-store',
      })
      expect(Object.keys(headers).filter((each) => each.includes('ratelimit'))).toEqual([])
      const seconds = Number(headers['retry-after'])
      expect(Number.isInteger(seconds) && seconds >= 1 && seconds <= 30).toBe(true)
      expect(JSON.parse(text)).toMatchObject({
        type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
        status: 503,
        'violated-policies': ['overload'],
      })
      const plain = await sendTo('crowded')
      expect(plain.text.replace(/\d+ seconds?/, 'N seconds')).toBe(BUSY)
      const head = await sendTo('crowded', { method: 'HEAD' })
      expect([head.status, head.text]).toEqual([503, ''])
      expect(await signals.countOf('handled /crowded')).toBe(1)
      await signals.release()
      await isFree('crowded')
      expect(await statusOf('crowded')).toBe(200)
    })

    test('gives the place of a client that has left back, also while the handler runs on', async () => {
      const hangUp = await hold('left')
      expect(await statusOf('left')).toBe(503)
      await hangUp()
      await isFree('left')
    })

    test('gives the place of a handler that throws back', async () => {
      const statuses: number[] = []
      for (let i = 0; i < 3; i++) statuses.push(await statusOf('failing', { 'x-throw': 'yes' }))
      expect([...statuses, await statusOf('failing')]).toEqual([500, 500, 500, 200])
    })

    test('has requests wait for a place, and serves none whose client has left', async () => {
      await hold('waiting')
      const waiting = sendTo('waiting')
      const leaving = new AbortController()
      const left = leave(running.port, leaving.signal)
      await statusOf('crowded') // sent after both
      const closed = await signals.countOf('closed /waiting')
      leaving.abort()
      await left
      await signals.countOf('closed /waiting', closed + 1)
      await signals.release()
      expect((await waiting).status).toBe(200)
      expect(await statusOf('waiting')).toBe(200)
      expect(await signals.countOf('handled /waiting')).toBe(3)
    })

    test('lets all requests pass in report mode', async () => {
      await hold('watched')
      const { status, headers } = await sendTo('watched')
      expect([status, headers['retry-after']]).toEqual([200, undefined])
    })

    test('responds as message and statusCode say', async () => {
      await hold('worded')
      expect(await sendTo('worded')).toMatchObject({
        status: 529,
        text: 'come back later',
        headers: { 'cache-control': 'no-store', 'retry-after': expect.stringMatching(/^\d+$/) },
      })
    })

    test('responds as the application does', async () => {
      await hold('answeredBusy')
      const denied = await sendTo('answeredBusy')
      expect({ ...denied, headers: denied.headers['cache-control'] }).toMatchObject({
        text: expect.stringMatching(/^wait \d+ ms$/),
        headers: 'no-store',
      })
      expect([420, 529]).toContain(denied.status)
      expect(await signals.countOf('handled /answeredBusy')).toBe(1)
    })

    test('keeps places for critical requests', async () => {
      const critical = { 'x-priority': 'critical' }
      expect(await statusOf('ranked', critical)).toBe(200)
      for (let i = 0; i < 4; i++) await hold('ranked')
      expect([await statusOf('ranked'), await statusOf('ranked', critical)]).toEqual([503, 200])
    })

    test('denies blocked addresses with 403, and lets others skip it', async () => {
      expect(await statusOf('closedTo')).toBe(403)
      await hold('skipping')
      expect([await statusOf('skipping'), await statusOf('skipping', { 'x-skip': 'yes' })]).toEqual([
        503, 200,
      ])
    })

    test('takes one place where it is mounted twice', async () => {
      expect([await statusOf('doubled'), await statusOf('doubled')]).toEqual([200, 200])
    })

    test('hands what an option function throws to the error handling of the framework', async () => {
      expect(await statusOf('throwing')).toBe(500)
      expect(await signals.countOf('handled /throwing')).toBe(0)
    })
  })
}

/** Sends a request that its client gives up. */
async function leave(port: number, signal: AbortSignal): Promise<void> {
  await fetch(`http://[::1]:${port}/waiting`, { signal }).catch(() => undefined)
}
