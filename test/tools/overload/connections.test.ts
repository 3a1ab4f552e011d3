import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Connections, connectionsTo } from './connections.js'

const cleanups: (() => unknown)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function start(
  handler: (req: IncomingMessage, res: ServerResponse) => void,
  most: number,
  patienceMs: number,
  isProxied = false,
): Promise<Connections> {
  const server = createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const connections = connectionsTo({ port, most, patienceMs, isProxied })
  cleanups.push(() => new Promise((resolve) => server.close(resolve)))
  cleanups.push(() => connections.close())
  return connections
}

const nextTurn = () => new Promise<'turn'>((resolve) => setImmediate(resolve, 'turn'))

const statusFrom = ({ send }: Connections, path = '/') =>
  new Promise<number | undefined>((resolve) => {
    send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`, resolve)
  })

test('requests one after the other use one connection, and those at once use several', async () => {
  const ports = new Set<number | undefined>()
  const connections = await start(
    ({ socket, url }, res) => {
      ports.add(socket.remotePort)
      res.statusCode = Number(url?.slice(1))
      res.end('hello')
    },
    10,
    60_000,
  )
  const statuses = [await statusFrom(connections, '/200'), await statusFrom(connections, '/503')]
  expect([statuses, ports.size]).toEqual([[200, 503], 1])
  const atOnce = await Promise.all([200, 201, 202].map((status) => statusFrom(connections, `/${status}`)))
  expect([atOnce, ports.size, connections.open]).toEqual([[200, 201, 202], 3, 3])
})

test('a client that has waited long enough leaves, and the server sees it', async () => {
  let left = () => {}
  const hasLeft = new Promise<void>((resolve) => {
    left = resolve
  })
  const connections = await start((_req, res) => res.once('close', left), 10, 50)
  expect(await statusFrom(connections)).toBeUndefined()
  await hasLeft
  expect(connections.open).toBe(0)
})

test('a proxy has its connections from the start, and keeps that of a client that has left until it is free', async () => {
  const held: ServerResponse[] = []
  const connections = await start((_req, res) => held.push(res), 1, 50, true)
  expect([connections.open, await statusFrom(connections)]).toEqual([1, undefined])
  expect([connections.open, await statusFrom(connections)]).toEqual([1, undefined]) // there is no other
  expect(held.length).toBe(1)
  held[0]?.end()
  let status: number | undefined
  while (status === undefined) {
    await nextTurn()
    const asked = statusFrom(connections)
    while (held.length === 1 && (await Promise.race([asked, nextTurn()])) === 'turn');
    held[1]?.end()
    status = await asked
  }
  expect(status).toBe(200)
})

test('a request for which there is no connection ends at once', async () => {
  const held: ServerResponse[] = []
  const connections = await start((_req, res) => held.push(res), 1, 60_000)
  const first = statusFrom(connections)
  expect(await statusFrom(connections)).toBeUndefined()
  while (held.length === 0) await nextTurn()
  held[0]?.end()
  expect(await first).toBe(200)
})

test('a connection that the server closes ends its request', async () => {
  const connections = await start(({ socket }) => socket.destroy(), 1, 60_000)
  expect([await statusFrom(connections), connections.open]).toEqual([undefined, 0])
})
