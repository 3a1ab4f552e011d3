import type { ServerResponse } from 'node:http'
import { BLOCKED } from '../../../src/http/denial-body.js'
import { undecidedDenial } from '../../../src/http/denial-response.js'
import { nodeWriter, setAll } from '../../../src/http/response-writer.js'
import { requestAndResponse } from '../../support/request-response.js'
import { recordWarnings } from '../../support/warnings.js'

const warnings = recordWarnings()

test('setAll replaces headers of the same name, in any case', () => {
  const { res } = requestAndResponse()
  res.setHeader('cache-control', 'public')
  setAll(res, ['Cache-Control', 'no-store', 'Retry-After', '1'])
  expect(res.getHeaders()).toEqual({ 'cache-control': 'no-store', 'retry-after': '1' })
})

test('a denial is sent with headers and body at once, and keeps headers set before', () => {
  const { res } = requestAndResponse()
  res.setHeader('X-Powered-By', 'Express')
  const [writeHead, end] = [jest.spyOn(res, 'writeHead'), jest.spyOn(res, 'end')]
  nodeWriter.send(res, undecidedDenial(BLOCKED, 403, undefined))
  expect(res.statusCode).toBe(403)
  expect(res.getHeaders()).toEqual({
    'x-powered-by': 'Express',
    'cache-control': 'no-store',
    'content-type': 'text/plain; charset=utf-8',
    'content-length': '11',
  })
  expect(writeHead).toHaveBeenCalledTimes(1)
  expect(end.mock.calls).toEqual([['Forbidden.\n']])
})

describe('abort', () => {
  test('destroys a response whose headers were sent, and reports it once', () => {
    for (let i = 0; i < 2; i++) {
      const { res } = requestAndResponse()
      res.writeHead(200)
      nodeWriter.abort(res)
      expect(res).toMatchObject({ destroyed: true, writableEnded: false, statusCode: 200 })
    }
    expect(warnings()).toEqual(['HEADGATE_HEADERS_SENT'])
  })

  test.each<[string, (res: ServerResponse) => unknown]>([
    ['has been ended', (res) => res.end('early')],
    ['is destroyed already', (res) => res.writeHead(200).destroy()],
  ])('leaves a response alone that %s', (_what, make) => {
    const { res } = requestAndResponse()
    make(res)
    const destroy = jest.spyOn(res, 'destroy')
    nodeWriter.abort(res)
    expect(destroy).not.toHaveBeenCalled()
    expect(warnings()).toEqual([])
  })
})
