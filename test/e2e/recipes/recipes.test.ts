import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'
import { io } from 'socket.io-client'
import { WebSocket } from 'ws'
import { writeRecipe } from './recipe.js'

const cleanups: (() => unknown)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** Starts the server of a recipe; returns its address. */
async function start(heading: string, index?: number): Promise<string> {
  process.env.PORT = '0'
  const { file, remove } = writeRecipe(heading, index)
  cleanups.push(remove)
  const { server } = (await import(file)) as { server: Server }
  cleanups.push(() => server.close())
  if (server.address() === null) await once(server, 'listening')
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('GraphQL', () => {
  async function query(address: string, text: string) {
    const body = JSON.stringify({ query: text })
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`http://${address}/graphql`, { method: 'POST', headers, body })
    const result = (await response.json()) as object
    return { status: response.status, retryAfter: response.headers.get('retry-after'), ...result }
  }

  test('a query is charged by its fields, before it is executed', async () => {
    const address = await start('GraphQL')
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

test('tRPC: procedures that use the middleware are limited', async () => {
  const address = await start('tRPC')
  const responses = await Promise.all(Array.from({ length: 6 }, () => fetch(`http://${address}/hello`)))
  expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 429])
  const refused = responses.find(({ status }) => status === 429)
  expect(refused?.headers.get('retry-after')).toBe('12')
  expect(await refused?.json()).toMatchObject({ error: { data: { code: 'TOO_MANY_REQUESTS' } } })
})

test('ws: messages are limited by address, across connections', async () => {
  const address = await start('WebSockets')
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

test('ws: a malformed frame closes its connection, and the server goes on', async () => {
  const reported = jest.spyOn(console, 'error').mockImplementation(() => {})
  const address = await start('WebSockets')
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
  const address = await start('WebSockets', 1)
  const socket = io(`http://${address}`, { transports: ['websocket'] })
  cleanups.push(() => socket.disconnect())
  socket.emit('say', 'without an answer')
  for (let i = 1; i < 20; i++) expect(await socket.emitWithAck('say', i)).toBe(`you said ${i}`)
  const denied = new Promise((resolve) => socket.once('denied', resolve))
  socket.emit('say', 20)
  expect(await denied).toBe('too many events')
})
