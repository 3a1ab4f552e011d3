import net from 'node:net'
import { text } from 'node:stream/consumers'
import { overloadGuard } from 'headgate/http'
import { type Handler, NODE_HTTP } from '../support/frameworks.js'
import { closeServers, serve } from '../support/http.js'

afterEach(closeServers)

/** A handler that keeps the process busy, and never awaits. */
const burn: Handler = (_req, res) => {
  const endMs = performance.now() + 5
  while (performance.now() < endMs);
  res.end('done')
}

/** Sends requests at once on one connection, so that the server reads them in one turn. Returns the statuses. */
async function pipelined(port: number, count: number): Promise<string[]> {
  const socket = net.connect(port, '127.0.0.1')
  const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'
  const last = 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
  socket.write(request.repeat(count - 1) + last)
  return Array.from((await text(socket)).matchAll(/HTTP\/1\.1 (\d{3})/g), ([, status = '']) => status)
}

test('handlers that never await are denied once their requests have waited in the event loop', async () => {
  const guard = overloadGuard()
  const { port } = await serve(NODE_HTTP.app(guard as Handler, burn))
  const statuses = await pipelined(port, 100)
  expect(statuses).toHaveLength(100)
  expect(statuses.slice(0, 3)).toEqual(['200', '200', '200']) // each counts 50 ms at most
  expect([...new Set(statuses)].sort()).toEqual(['200', '503'])
  expect(guard.status()).toMatchObject({ running: 0, waiting: 0 })
})
