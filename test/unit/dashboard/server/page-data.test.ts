import type { LimiterHistory, PageFigures } from '../../../../src/dashboard/figures/shown.js'
import { pageData } from '../../../../src/dashboard/server/page-data.js'
import { requestAndResponse } from '../../../support/request-response.js'
import { givenFigures, series } from './page-figures.js'

const HISTORY: LimiterHistory = { series: series(0, [1, 2]), outages: [{ fromMs: 1, toMs: 2 }], marks: [] }

/** Reads what a page reads, and returns the response. */
async function read(path: string, own: Partial<PageFigures> = {}, method = 'GET') {
  const { res } = requestAndResponse(method)
  const ended = jest.spyOn(res, 'end').mockReturnThis()
  const [name = '', query] = path.split('?')
  await pageData(givenFigures(own)).get(name)?.(res, new URLSearchParams(query))
  return { headers: res.getHeaders(), text: ended.mock.calls[0]?.[0] as string | undefined }
}

test('the history of one limiter is read whole', async () => {
  const history = async (limiter: string) => (limiter === 'a b' ? HISTORY : undefined)
  const { headers, text } = await read('history?limiter=a+b', { history })
  expect(headers).toMatchObject({ 'content-type': 'application/json' })
  expect(JSON.parse(text as string)).toEqual(HISTORY)
  await expect(read('history?limiter=__proto__', { history })).rejects.toMatchObject({ status: 404 })
  await expect(read('history?limiter=', { history })).rejects.toMatchObject({ status: 404 })
})

test('the histories of all limiters are read by name, whatever they are called', async () => {
  const names = ['api', '__proto__', 'constructor']
  const histories = async () => new Map(names.map((name) => [name, series(0, [3])]))
  const { text } = await read('history', { histories })
  expect(Object.entries(JSON.parse(text as string))).toEqual(names.map((name) => [name, series(0, [3])]))
})

test('a store that fails is a 503', async () => {
  const lost = () => Promise.reject(new Error('redis: connection lost'))
  for (const path of ['history', 'history?limiter=api'])
    await expect(read(path, { history: lost, histories: lost })).rejects.toMatchObject({
      status: 503,
      message: 'redis: connection lost',
    })
})

test('the log is a line of JSON for each event, to be saved', async () => {
  const events = [1, 2].map((i) => ({ id: `e${i}`, atMs: i, kind: 'release', text: 'a\nb' }) as const)
  const { headers, text } = await read('log', { events: () => events })
  expect(headers).toMatchObject({
    'content-type': 'application/x-ndjson',
    'content-disposition': 'attachment; filename="headgate-events.jsonl"',
  })
  expect(text?.split('\n').map((line) => line && JSON.parse(line))).toEqual([...events, ''])
  expect(await read('log')).toMatchObject({ text: '' })
  expect((await read('log', { events: () => events }, 'HEAD')).text).toBeUndefined()
})
