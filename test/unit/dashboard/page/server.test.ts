import { pageModule } from '../../../support/page-module.js'

type HistoryOf = (limiter: string | undefined) => unknown

const { historyReader, post, readLog } = pageModule<{
  post(action: string, body: object): Promise<Record<string, unknown>>
  historyReader(onRead: () => void): HistoryOf
  readLog(): Promise<unknown[]>
}>('server.js')

/** A request of the page, and what answers it. */
interface Sent {
  readonly path: string
  readonly signal: AbortSignal | undefined
  answer(value: unknown): Promise<void>
  fail(): Promise<void>
}

let sent: Sent[]

beforeEach(() => {
  sent = []
  jest.useFakeTimers()
  jest.spyOn(globalThis, 'fetch').mockImplementation(
    (path, options) =>
      new Promise<Response>((resolve, reject) => {
        sent.push({
          path: String(path),
          signal: options?.signal ?? undefined,
          async answer(value) {
            resolve(Response.json(value))
            await jest.advanceTimersByTimeAsync(0)
          },
          async fail() {
            reject(new TypeError('fetch failed'))
            await jest.advanceTimersByTimeAsync(0)
          },
        })
      }),
  )
})
afterEach(() => {
  jest.restoreAllMocks()
  jest.useRealTimers()
})

const paths = () => sent.map(({ path }) => path)

test('a store that hangs holds one connection of the browser for histories, however often the page is drawn', async () => {
  const onRead = jest.fn()
  const historyOf = historyReader(onRead)
  const draw = () => ['api', undefined].map(historyOf)
  for (let second = 0; second < 70; second++) {
    expect(draw()).toEqual([undefined, undefined])
    await jest.advanceTimersByTimeAsync(1000)
  }
  expect(paths()).toEqual(['history?limiter=api'])
  await sent[0]?.fail()
  draw()
  expect(paths()).toEqual(['history?limiter=api', 'history']) // the first waits before it is asked for again
  await sent[1]?.answer({ api: 'a day' })
  expect(onRead).toHaveBeenCalledTimes(2)
  expect(draw()).toEqual([undefined, new Map([['api', 'a day']])])
  await jest.advanceTimersByTimeAsync(5000)
  draw()
  expect(paths()).toEqual(['history?limiter=api', 'history', 'history?limiter=api'])
})

test('each request of the page ends in time', async () => {
  historyReader(() => undefined)('a b')
  void readLog()
  expect(paths()).toEqual(['history?limiter=a+b', 'log'])
  expect(sent.map(({ signal }) => signal instanceof AbortSignal)).toEqual([true, true])
})

describe('a change', () => {
  const html = { 'Content-Type': 'text/html; charset=utf-8' }
  const redirect = Object.defineProperties(new Response(), {
    type: { value: 'opaqueredirect' },
    status: { value: 0 },
    ok: { value: false },
  })
  const signIn = 'Your session has ended. Sign in again, such as in another tab. Nothing was changed.'

  test.each<readonly [string, Response, object]>([
    ['is redirected', redirect, { message: signIn }],
    ['gets a page', new Response('<h1>Log in</h1>', { headers: html }), { message: signIn }],
    ['gets a 401', new Response('Who are you?', { status: 401 }), { message: signIn }],
    [
      'gets the page of a proxy that has waited in vain',
      new Response('<h1>Gateway Timeout</h1>', { status: 504, headers: html }),
      { message: 'The server responded with 504.', isUnknown: true },
    ],
    [
      'gets half of a response',
      new Response('{"unti', { headers: { 'Content-Type': 'application/json' } }),
      { message: 'The server responded with 200.', isUnknown: true },
    ],
  ])('that %s says what to do', async (_, response, expected) => {
    jest.spyOn(globalThis, 'fetch').mockResolvedValue(response)
    const failed: Record<string, unknown> = await post('undo', {}).catch((error) => error)
    const { message, isUnknown } = failed
    expect({ message, isUnknown }).toEqual({ isUnknown: undefined, ...expected })
    expect(jest.mocked(fetch).mock.calls[0]?.[1]).toMatchObject({ redirect: 'manual' })
  })
})
