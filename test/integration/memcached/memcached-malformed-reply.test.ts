import { createServer, type Server } from 'node:net'
import { fixedWindow, tokenBucket } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import { Client } from 'memjs'
import { part } from '../../../src/testing/conformance/store-calls.js'

const HEADER_BYTES = 24

/** A server whose replies to all requests have a body of some bytes, and status 0. */
async function startServer(body: Buffer): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (requests) => {
      for (let at = 0; at < requests.length; at += HEADER_BYTES + requests.readUInt32BE(at + 8)) {
        const reply = Buffer.alloc(HEADER_BYTES + body.length)
        reply[0] = 0x81
        reply[1] = requests[at + 1] ?? 0
        reply.writeUInt32BE(body.length, 8)
        requests.copy(reply, 12, at + 12, at + 16) // the number of the request
        body.copy(reply, HEADER_BYTES)
        socket.write(reply)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, port: (server.address() as { port: number }).port }
}

test.each([
  ['no body', Buffer.alloc(0)],
  ['a body that is too short', Buffer.alloc(3)],
])('replies with %s fail the charges, and nothing else', async (_, body) => {
  const { server, port } = await startServer(body)
  const client = Client.create(`127.0.0.1:${port}`, { retries: 0 })
  try {
    const store = memcachedStore(client)
    for (const policy of [
      fixedWindow({ limit: 5, window: '1h' }),
      tokenBucket({ capacity: 5, refill: 1, every: '1d' }),
    ]) {
      const [outcome] = await store.apply([{ type: 'charge', parts: [part('k', policy)] }])
      expect(outcome).toMatchObject({ name: 'StoreError', store: 'memcached' })
    }
  } finally {
    client.close()
    server.close()
  }
})
