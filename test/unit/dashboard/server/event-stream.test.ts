import type { ServerResponse } from 'node:http'
import { type EventStream, eventStream } from '../../../../src/dashboard/server/event-stream.js'
import { forgetWarnings } from '../../../../src/util/warn-once.js'
import { requestAndResponse } from '../../../support/request-response.js'
import { givenFigures, row } from './page-figures.js'

const SECOND_MS = 1000
const FIVE_MINUTES_MS = 300_000
const MEGABYTE = 1_048_576

let stream: EventStream
let refreshed: number
/** Ends a refresh that hangs. */
let endRefresh: (() => void) | undefined
let isSlow: boolean
let failure: Error | undefined

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] })
  refreshed = 0
  isSlow = false
  failure = undefined
  const figures = givenFigures({
    async refresh() {
      refreshed++
      if (failure !== undefined) throw failure
      if (isSlow) await new Promise<void>((resolve) => (endRefresh = resolve))
    },
    rows: () => [row('still'), row('moving', refreshed)],
  })
  stream = eventStream(figures)
})
afterEach(() => {
  stream.stop()
  jest.useRealTimers()
})

interface Page {
  readonly res: ServerResponse & { flush?: () => void }
  /** The rate of the limiter `moving` in each frame that it was sent. */
  frames(): unknown[]
  /** The names of the rows in the last frame. */
  lastRows(): string[]
}

function openPage(own: object = {}): Page {
  const { res } = requestAndResponse()
  Object.assign(res, own)
  const written: string[] = []
  jest.spyOn(res, 'write').mockImplementation((text: unknown) => written.push(String(text)) > 0)
  stream.add(res, { search: '' }, { canChange: true })
  const rows = () =>
    Array.from(written.join('').matchAll(/\n\ndata: (.*)(?=\n\n)/g), ([, json = '']) => {
      const frame = JSON.parse(json) as { rows?: ReturnType<typeof row>[] }
      return frame.rows ?? []
    })
  return {
    res,
    frames: () => rows().map((each) => each.at(-1)?.allowedPerSecond),
    lastRows: () =>
      rows()
        .at(-1)
        ?.map(({ name }) => name) ?? [],
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

async function pass(ms: number): Promise<void> {
  jest.advanceTimersByTime(ms)
  await turn()
}

test('figures that cannot be read end neither the process nor the stream, and warn once', async () => {
  forgetWarnings()
  const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  failure = new Error('redis: no reply within 800 ms')
  const page = openPage()
  await turn()
  await pass(SECOND_MS)
  expect([refreshed, page.frames(), page.res.writableEnded]).toEqual([2, [], false])
  expect(warned.mock.calls.map(([message]) => message)).toEqual([
    expect.stringMatching(
      /^headgate: the dashboard could not read figures \(redis: no reply within 800 ms\)\./,
    ),
  ])
  failure = undefined
  await pass(SECOND_MS)
  expect(page.frames()).toEqual([3])
  warned.mockRestore()
})

test('the first frame of a page has what other processes reported, and one follows each second', async () => {
  const page = openPage()
  expect(page.frames()).toEqual([])
  expect(page.res.getHeaders()).toEqual({}) // they have been sent
  expect(page.res.statusCode).toBe(200)
  await turn()
  expect([page.frames(), page.lastRows()]).toEqual([[1], ['still', 'moving']])
  await pass(SECOND_MS - 1)
  expect(page.frames()).toHaveLength(1)
  await pass(1)
  expect([page.frames(), page.lastRows()]).toEqual([[1, 2], ['moving']])
})

test('a page begins at once with the headers of an event stream, and when to come again', () => {
  const { res } = requestAndResponse()
  const [writeHead, write] = [jest.spyOn(res, 'writeHead'), jest.spyOn(res, 'write')]
  stream.add(res, { search: '' }, { canChange: false, operator: 'ada' })
  expect(writeHead.mock.calls).toEqual([
    [200, { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' }],
  ])
  expect(write.mock.calls).toEqual([
    ['retry: 2000\n\nevent: session\ndata: {"canChange":false,"operator":"ada"}\n\n'],
  ])
})

test('all pages share a refresh, and none is made while no page is open', async () => {
  const pages = [openPage(), openPage()]
  await turn()
  const before = refreshed
  await pass(SECOND_MS)
  const after = before + 1
  expect([refreshed, ...pages.map((page) => page.frames().at(-1))]).toEqual([after, after, after])
  pages[0]?.res.emit('close')
  await pass(SECOND_MS)
  expect(refreshed).toBe(after + 1)
  pages[1]?.res.emit('close')
  await pass(10 * SECOND_MS)
  expect(refreshed).toBe(after + 1)
  openPage()
  await pass(SECOND_MS)
  expect(refreshed).toBeGreaterThan(after + 1)
})

test('while the store is slow, no further refresh begins', async () => {
  isSlow = true
  const page = openPage()
  await pass(3 * SECOND_MS)
  expect([refreshed, page.frames().length]).toEqual([1, 0])
  isSlow = false
  endRefresh?.()
  await turn()
  expect(page.frames()).toHaveLength(1)
  await pass(SECOND_MS)
  expect([refreshed, page.frames().length]).toEqual([2, 2])
})

test('a page that has left meanwhile is sent nothing, nor one that something else has ended', async () => {
  const [gone, ended, open] = [openPage(), openPage(), openPage()]
  await turn()
  const before = ended.frames().length
  gone.res.emit('close')
  Object.defineProperty(ended.res, 'writableEnded', { value: true, configurable: true })
  await pass(SECOND_MS)
  expect([gone.frames().length, ended.frames().length, open.frames().length]).toEqual([
    before,
    before,
    before + 1,
  ])
  Reflect.deleteProperty(ended.res, 'writableEnded')
})

test('a page that does not read misses frames, and loses its connection in the end', async () => {
  const page = openPage()
  await turn()
  const unread = (bytes: number) =>
    Object.defineProperty(page.res, 'writableLength', { value: bytes, configurable: true })
  unread(MEGABYTE)
  await pass(SECOND_MS)
  expect(page.frames()).toHaveLength(1)
  unread(MEGABYTE - 1)
  await pass(SECOND_MS)
  expect(page.frames()).toHaveLength(2)
  await pass(FIVE_MINUTES_MS)
  expect([page.res.destroyed, page.res.writableEnded]).toEqual([true, false])
})

test('a page that reads is ended after five minutes, and not before', async () => {
  const page = openPage()
  await turn()
  await pass(FIVE_MINUTES_MS - 1)
  expect(page.res.writableEnded).toBe(false)
  await pass(1)
  expect([page.res.writableEnded, page.res.destroyed]).toEqual([true, false])
  refreshed = 0
  await pass(10 * SECOND_MS)
  expect(refreshed).toBe(0)
})

test('of 20 open pages a further one is refused, until one has left', async () => {
  const pages = Array.from({ length: 20 }, () => openPage())
  expect(() => openPage()).toThrow(
    expect.objectContaining({
      status: 503,
      message: 'Too many pages are open. Close one of them.',
      headers: { 'Retry-After': '10' },
    }),
  )
  pages[3]?.res.emit('close')
  openPage()
  expect(() => openPage()).toThrow('Too many pages are open.')
})

test('a client that has left by now takes no place', async () => {
  const { res } = requestAndResponse()
  res.destroy()
  const writeHead = jest.spyOn(res, 'writeHead')
  stream.add(res, { search: '' }, { canChange: true })
  expect(writeHead).not.toHaveBeenCalled()
  await pass(5 * SECOND_MS)
  expect(refreshed).toBe(0)
})

test('what flushes its output does so after each frame', async () => {
  const flush = jest.fn()
  openPage({ flush })
  expect(flush).toHaveBeenCalledTimes(1)
  await turn()
  expect(flush).toHaveBeenCalledTimes(2)
})

test('a stream that is stopped ends its pages, and begins no others', async () => {
  const pages = [openPage(), openPage()]
  stream.stop()
  expect(pages.map(({ res }) => res.writableEnded)).toEqual([true, true])
  expect(() => openPage()).toThrow(
    expect.objectContaining({ status: 503, message: 'The dashboard is closed.' }),
  )
  await turn()
  refreshed = 0
  await pass(10 * SECOND_MS)
  expect(refreshed).toBe(0)
})

test('a page that has missed frames gets what has changed since in the next one', async () => {
  const page = openPage()
  await turn()
  Object.defineProperty(page.res, 'writableLength', { value: MEGABYTE, configurable: true })
  await pass(3 * SECOND_MS)
  Object.defineProperty(page.res, 'writableLength', { value: 0, configurable: true })
  await pass(SECOND_MS)
  expect([page.frames().length, page.lastRows()]).toEqual([2, ['moving']])
})

test('a page that opens beside another gets its first frame at once, without another refresh', async () => {
  openPage()
  await turn()
  const before = refreshed
  const other = openPage()
  expect([other.frames(), other.lastRows(), refreshed]).toEqual([[before], ['still', 'moving'], before])
})

test('a page that opens after all others have left waits for figures that are new', async () => {
  const first = openPage()
  await turn()
  first.res.emit('close')
  isSlow = true
  const [page, other] = [openPage(), openPage()]
  await turn()
  expect([page.frames(), other.frames()]).toEqual([[], []])
  endRefresh?.()
  await turn()
  expect([page.frames(), other.frames()]).toEqual([[refreshed], [refreshed]])
})
