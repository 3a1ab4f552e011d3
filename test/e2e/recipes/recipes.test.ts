import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Server, Socket } from 'node:net'
import { initTRPC } from '@trpc/server'
import { type CreateHTTPContextOptions, createHTTPServer } from '@trpc/server/adapters/standalone'
import { createSchema, createYoga, type Plugin } from 'graphql-yoga'
import { Server as SocketServer } from 'socket.io'
import { io } from 'socket.io-client'
import { WebSocket } from 'ws'
import { writeRecipe } from './recipe.js'

const cleanups: (() => unknown)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** Imports what a recipe exports. */
async function recipe<T>(heading: string, index?: number): Promise<T> {
  const { file, remove } = writeRecipe(heading, index)
  cleanups.push(remove)
  return (await import(file)) as T
}

/** Waits until a server listens, which closes after the test; returns its address. */
async function addressOf(server: Server): Promise<string> {
  cleanups.push(() => server.close())
  if (server.address() === null) await once(server, 'listening')
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Starts the server of the recipe about `ws`; returns its address. */
async function startWs(): Promise<string> {
  const { server } = await recipe<{ server: Server }>('WebSockets')
  return addressOf(server)
}

describe('GraphQL', () => {
  async function start(): Promise<string> {
    const { chargeFields } = await recipe<{ chargeFields: Plugin }>('GraphQL')
    const search = { resolve: () => ['ada'], extensions: { complexity: 20 } }
    const schema = createSchema({
      typeDefs: 'type Query { hello: String, search: [String] }',
      resolvers: { Query: { hello: () => 'world', search } },
    })
    return addressOf(createServer(createYoga({ schema, plugins: [chargeFields] })).listen(0))
  }

  async function query(address: string, text: string) {
    const body = JSON.stringify({ query: text })
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`http://${address}/graphql`, { method: 'POST', headers, body })
    const result = (await response.json()) as object
    return { status: response.status, retryAfter: response.headers.get('retry-after'), ...result }
  }

  test('a query is charged by its fields, before it is executed', async () => {
    const address = await start()
    for (let i = 0; i < 4; i++) expect(await query(address, '{ search }')).toMatchObject({ status: 200 })
    expect(await query(address, '{ hello ...more } fragment more on Query { a: search }')).toMatchObject({
      status: 429,
      retryAfter: '1',
      errors: [{ message: 'Too many requests', extensions: { code: 'TOO_MANY_REQUESTS', cost: 21 } }],
    })
    expect(await query(address, '{ hello }')).toMatchObject({ status: 200, data: { hello: 'world' } })
    const six = 'abcdef'.replace(/./g, '$&: search ')
    expect(await query(address, `{ ${six} }`)).toMatchObject({ status: 429, retryAfter: null })
  })
})

const trpc = initTRPC.context<CreateHTTPContextOptions>().create()
type TrpcRecipe = { t: typeof trpc; limitedProcedure: typeof trpc.procedure }

test('tRPC: procedures that use the middleware are limited', async () => {
  const { t, limitedProcedure } = await recipe<TrpcRecipe>('tRPC')
  const router = t.router({ hello: limitedProcedure.query(() => 'world') })
  const address = await addressOf(createHTTPServer({ router, createContext: (options) => options }).listen(0))
  const responses = await Promise.all(Array.from({ length: 6 }, () => fetch(`http://${address}/hello`)))
  expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 429])
  const refused = responses.find(({ status }) => status === 429)
  expect(refused?.headers.get('retry-after')).toBe('12')
  expect(await refused?.json()).toMatchObject({ error: { data: { code: 'TOO_MANY_REQUESTS' } } })
})

test('ws: messages are limited by address, across connections', async () => {
  const address = await startWs()
  const sockets = await Promise.all(
    [0, 1].map(async () => {
      const socket = new WebSocket(`ws://${address}`)
      cleanups.push(() => socket.terminate())
      await once(socket, 'open')
      return socket
    }),
  )
  const answers: string[] = []
  const all = new Promise<void>((done) => {
    for (const socket of sockets) {
      socket.on('message', (data) => {
        if (answers.push(String(data)) === 24) done()
      })
    }
  })
  for (let i = 0; i < 24; i++) sockets[i % 2]?.send(`hello ${i}`)
  await all
  expect(answers.filter((answer) => answer.startsWith('you said hello'))).toHaveLength(20)
  const refused = answers.filter((answer) => answer.includes('too many messages'))
  expect(refused).toHaveLength(4)
  expect(JSON.parse(refused[0] as string).retryAfterMs).toBeGreaterThan(0)
})

test('ws: a socket holds its place until it closes', async () => {
  const address = await startWs()
  const open = async () => {
    const socket = new WebSocket(`ws://${address}`)
    cleanups.push(() => socket.terminate())
    await once(socket, 'open')
    return socket
  }
  const isServed = async (socket: WebSocket) => {
    socket.send('hello')
    return new Promise((resolve) => {
      socket.once('message', () => resolve(true))
      socket.once('close', resolve)
    })
  }
  const sockets = await Promise.all(Array.from({ length: 10 }, open))
  const isRejected = async () => (await once(await open(), 'close'))[0]
  expect(await isRejected()).toBe(1013)
  expect(await isRejected()).toBe(1013)
  sockets[0]?.terminate()
  sockets[1]?.close()
  for (let i = 0; i < 2; ) if ((await isServed(await open())) === true) i++
  expect(await isRejected()).toBe(1013)
})

test('ws: a malformed frame closes its connection, and the server goes on', async () => {
  const reported = jest.spyOn(console, 'error').mockImplementation(() => {})
  const address = await startWs()
  const broken = new WebSocket(`ws://${address}`)
  await once(broken, 'open')
  ;(broken as unknown as { _socket: Socket })._socket.write(Buffer.from([0xff, 0xff, 0, 0]))
  await once(broken, 'close')
  expect(reported).toHaveBeenCalledTimes(1)
  reported.mockRestore()
  const other = new WebSocket(`ws://${address}`)
  cleanups.push(() => other.terminate())
  await once(other, 'open')
  other.send('hello')
  const [answer] = await once(other, 'message')
  expect(String(answer)).toBe('you said hello')
})

test('Socket.IO: events are limited, and the client is told', async () => {
  type Recipe = { limitEvents: Parameters<SocketServer['on']>[1] }
  const { limitEvents } = await recipe<Recipe>('WebSockets', 1)
  const server = createServer().listen(0)
  const sockets = new SocketServer(server)
  sockets.on('connection', limitEvents)
  sockets.on('connection', (each) => each.on('say', (text, answer) => answer?.(`you said ${text}`)))
  const address = await addressOf(server)
  const socket = io(`http://${address}`, { transports: ['websocket'] })
  cleanups.push(() => socket.disconnect())
  socket.emit('say', 'without an answer')
  for (let i = 1; i < 20; i++) expect(await socket.emitWithAck('say', i)).toBe(`you said ${i}`)
  const denied = new Promise((resolve) => socket.once('denied', resolve))
  socket.emit('say', 20)
  expect(await denied).toBe('too many events')
})
