import { once } from 'node:events'
import net from 'node:net'
import { overloadGuard } from 'headgate/http'
import { type Handler, NODE_HTTP } from '../support/frameworks.js'
import { closeServers, closeWithServers, serve } from '../support/http.js'

afterEach(closeServers)

const CLIENTS = 20

/** A handler that keeps the process busy, and never awaits. */
const burn: Handler = (_req, res) => {
  const endMs = performance.now() + 5
  while (performance.now() < endMs);
  res.end('done')
}

/** Opens connections, and returns a function that sends a request on each at once, and reads the statuses. */
async function clientsOf(port: number) {
  const sockets = Array.from({ length: CLIENTS }, () => net.connect(port, '127.0.0.1'))
  closeWithServers(async () => {
    for (const socket of sockets) socket.destroy()
  })
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  return async () => {
    const statuses = sockets.map(async (socket) => String((await once(socket, 'data'))[0]).slice(9, 12))
    for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    const all = await Promise.all(statuses)
    return { served: all.filter((status) => status === '200').length, of: all.length }
  }
}

test('handlers that never await are denied once their requests wait in the event loop all the time', async () => {
  const guard = overloadGuard()
  const { port } = await serve(NODE_HTTP.app(guard as Handler, burn))
  const sendAll = await clientsOf(port)
  const first = await sendAll()
  expect(first.served).toBe(CLIENTS) // a burst
  for (let i = 0; i < 3; i++) await sendAll()
  const { served, of } = await sendAll()
  expect(served).toBeGreaterThan(0)
  expect(served).toBeLessThan(of / 2)
  expect(guard.status().running).toBe(0)
})
