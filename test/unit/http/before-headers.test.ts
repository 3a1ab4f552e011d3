import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeHeaders } from '../../../src/http/before-headers.js'

interface Heard {
  readonly status: number
  readonly location: unknown
}

/** What the listener hears of a response, and the raw answer. */
async function answerOf(
  answer: (res: ServerResponse) => void,
): Promise<{ heard: Heard[]; headers: Headers; status: number; statusText: string }> {
  const heard: Heard[] = []
  const server = createServer((_req, res) => {
    beforeHeaders(res, () => {
      heard.push({ status: res.statusCode, location: res.getHeader('location') })
      res.appendHeader('Set-Cookie', 'ours=1')
    })
    answer(res)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = server.address() as AddressInfo
    const { headers, status, statusText } = await fetch(`http://127.0.0.1:${port}/`, { redirect: 'manual' })
    return { heard, headers, status, statusText }
  } finally {
    server.close()
  }
}

const found = [{ status: 302, location: '/home' }]

test.each<[string, (res: ServerResponse) => void]>([
  [
    'set one by one',
    (res) => {
      res.statusCode = 302
      res.setHeader('Location', '/home')
      res.setHeader('Set-Cookie', ['a=1', 'b=2'])
      res.end()
    },
  ],
  [
    'given to writeHead',
    (res) => {
      res.writeHead(302, { Location: '/home', 'Set-Cookie': ['a=1', 'b=2'] }).end()
    },
  ],
  [
    'given with a message',
    (res) => {
      res.writeHead(302, 'Found', { location: '/home', 'set-cookie': ['a=1', 'b=2'] }).end()
    },
  ],
  [
    'given as a flat list',
    (res) => {
      res.writeHead(302, ['Location', '/home', 'Set-Cookie', 'a=1', 'Set-Cookie', 'b=2']).end()
    },
  ],
  [
    'given as pairs',
    (res) => {
      const pairs = [
        ['Location', '/home'],
        ['Set-Cookie', ['a=1', 'b=2']],
      ]
      res.writeHead(302, pairs as never).end()
    },
  ],
  [
    'given as pairs where others had been set',
    (res) => {
      res.setHeader('Location', '/elsewhere').setHeader('Set-Cookie', 'old=1')
      const pairs = [
        ['Location', '/home'],
        ['Set-Cookie', 'a=1'],
        ['Set-Cookie', 'b=2'],
      ]
      res.writeHead(302, undefined, pairs as never).end()
    },
  ],
  [
    'given where others had been set',
    (res) => {
      res.setHeader('Location', '/elsewhere')
      res.setHeader('Set-Cookie', 'old=1')
      res.writeHead(302, { Location: '/home', 'Set-Cookie': ['a=1', 'b=2'] }).end()
    },
  ],
  [
    'written by the first part of the body',
    (res) => {
      res.statusCode = 302
      res.setHeader('Location', '/home')
      res.setHeader('Set-Cookie', ['a=1', 'b=2'])
      res.write('moved')
      res.end()
    },
  ],
])('headers that are %s are set when the listener is called, and it can set more', async (_how, answer) => {
  const { heard, headers, status } = await answerOf(answer)
  expect(heard).toEqual(found)
  expect(status).toBe(302)
  expect(headers.get('location')).toBe('/home')
  expect(headers.getSetCookie()).toEqual(['a=1', 'b=2', 'ours=1'])
})

test('headers that Node.js rejects reach no listener, and the next ones do', async () => {
  const { heard, status } = await answerOf((res) => {
    expect(() => res.writeHead(302, { Location: undefined })).toThrow('Invalid value "undefined"')
    res.writeHead(500).end()
  })
  expect({ heard, status }).toEqual({ heard: [{ status: 500, location: undefined }], status: 500 })
})

test('each of two listeners is called once, and not for early hints', async () => {
  let second = 0
  const { heard, status } = await answerOf((res) => {
    beforeHeaders(res, () => second++)
    res.writeEarlyHints({ link: '</a.css>; rel=preload' })
    res.end('in')
  })
  expect({ heard, second, status }).toEqual({
    heard: [{ status: 200, location: undefined }],
    second: 1,
    status: 200,
  })
})

test.each<[string, string, (res: ServerResponse) => void]>([
  [
    'of the application',
    'Over There',
    (res) => res.writeHead(302, 'Over There', { Location: '/home' }).end(),
  ],
  ['of Node.js, where it gives none', 'Found', (res) => res.writeHead(302, { Location: '/home' }).end()],
])('the response has the status message %s', async (_whose, message, answer) => {
  expect((await answerOf(answer)).statusText).toBe(message)
})
