import { once } from 'node:events'
import net from 'node:net'
import { overloadGuard } from 'headgate/http'
import { type Handler, NODE_HTTP } from '../support/frameworks.js'
import { closeServers, closeWithServers, serve } from '../support/http.js'

afterEach(closeServers)

/** A handler that keeps the process busy, and never awaits. */
const burn: Handler = (_req, res) => {
  const endMs = performance.now() + 5
  while (performance.now() < endMs);
  res.end('done')
}

/** Sends requests on a connection, each as soon as the one before is answered, until `count` are answered in all. */
async function hammer(port: number, clients: number, count: number): Promise<Record<string, number>> {
  const statuses: Record<string, number> = {}
  let answered = 0
  const sockets = Array.from({ length: clients }, () => net.connect(port, '127.0.0.1'))
  closeWithServers(async () => {
    for (const socket of sockets) socket.destroy()
  })
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  await new Promise<void>((resolve) => {
    for (const socket of sockets) {
      const ask = () => socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
      socket.on('data', (data) => {
        const status = String(data).slice(9, 12)
        statuses[status] = (statuses[status] ?? 0) + 1
        if (++answered >= count) resolve()
        else ask()
      })
      ask()
    }
  })
  return statuses
}

test('handlers that never await are denied once their requests wait in the event loop all the time', async () => {
  const guard = overloadGuard()
  const { port } = await serve(NODE_HTTP.app(guard as Handler, burn))
  expect(await hammer(port, 4, 4)).toEqual({ 200: 4 }) // each counts 20 ms at most
  const { 200: served = 0, 503: denied = 0 } = await hammer(port, 10, 300)
  expect(served + denied).toBe(300)
  expect(served).toBeGreaterThan(10)
  expect(denied).toBeGreaterThan(10)
  expect(guard.status()).toMatchObject({ running: 0, waiting: 0 })
})
