import type { ServerResponse } from 'node:http'
import { refuse, setAll } from '../../../src/http/respond.js'
import { requestAndResponse } from '../../support/request-response.js'
import { recordWarnings } from '../../support/warnings.js'

const warnings = recordWarnings()

test('setAll replaces headers of the same name, in any case', () => {
  const { res } = requestAndResponse()
  res.setHeader('cache-control', 'public')
  setAll(res, ['Cache-Control', 'no-store', 'Retry-After', '1'])
  expect(res.getHeaders()).toEqual({ 'cache-control': 'no-store', 'retry-after': '1' })
})

test('refuse sends headers and body at once, keeps headers set before, and returns false', () => {
  const { req, res } = requestAndResponse()
  res.setHeader('X-Powered-By', 'Express')
  const [writeHead, end] = [jest.spyOn(res, 'writeHead'), jest.spyOn(res, 'end')]
  expect(refuse(req, res, 'limited', 429, { retryAfterMs: 1000, parts: [] })).toBe(false)
  expect(res.statusCode).toBe(429)
  expect(res.getHeaders()).toEqual({
    'x-powered-by': 'Express',
    'cache-control': 'no-store',
    'retry-after': '1',
    'content-type': 'text/plain; charset=utf-8',
    'content-length': '42',
  })
  expect(writeHead).toHaveBeenCalledTimes(1)
  expect(end.mock.calls).toEqual([['Too many requests. Try again in 1 second.\n']])
})

describe('refuse', () => {
  test('destroys a response whose headers were sent, and reports it once', () => {
    for (let i = 0; i < 2; i++) {
      const { req, res } = requestAndResponse()
      res.writeHead(200)
      expect(refuse(req, res, 'limited', 429)).toBe(false)
      expect(res).toMatchObject({ destroyed: true, writableEnded: false, statusCode: 200 })
    }
    expect(warnings()).toEqual(['HEADGATE_HEADERS_SENT'])
  })

  test.each<[string, (res: ServerResponse) => unknown]>([
    ['has been ended', (res) => res.end('early')],
    ['is destroyed already', (res) => res.writeHead(200).destroy()],
  ])('leaves a response alone that %s', (_what, make) => {
    const { req, res } = requestAndResponse()
    make(res)
    const destroy = jest.spyOn(res, 'destroy')
    expect(refuse(req, res, 'limited', 429)).toBe(false)
    expect(destroy).not.toHaveBeenCalled()
    expect(warnings()).toEqual([])
  })
})
