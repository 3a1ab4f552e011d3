import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { type FaultyProxy, startProxy } from './proxy.js'
import { until } from './servers/wait.js'

/** A server that echoes what it receives, in capitals. */
let server: Server
let proxy: FaultyProxy
let heard = ''
const opened: Socket[] = []

beforeAll(async () => {
  server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.setEncoding('utf8').on('data', (data: string) => {
      heard += data
      socket.write(data.toUpperCase())
    })
    socket.on('end', () => socket.end('BYE')).on('error', () => undefined)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  proxy = await startProxy({ host: '127.0.0.1', port: (server.address() as AddressInfo).port })
})

beforeEach(async () => {
  await proxy.heal()
  heard = ''
})

afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy()
})

afterAll(async () => {
  await proxy?.stop()
  server?.close()
})

/** A connection through the proxy, with what has come over it. */
async function open() {
  const socket = connect({ host: proxy.host, port: proxy.port, allowHalfOpen: true })
  opened.push(socket)
  const got = { text: '', chunks: [] as string[], events: [] as string[] }
  socket.setEncoding('utf8').on('data', (data: string) => {
    got.text += data
    got.chunks.push(data)
  })
  socket.on('end', () => got.events.push('end')).on('close', () => got.events.push('close'))
  socket.on('error', ({ code }: NodeJS.ErrnoException) => got.events.push(String(code)))
  await once(socket, 'connect')
  const ask = async (words: string) => {
    socket.write(words)
    await until(`the reply to ${words}`, () => got.text.endsWith(words.toUpperCase()), { everyMs: 1 })
  }
  return { socket, got, ask }
}

test('the proxy forwards both ways, and the end of each way', async () => {
  const { socket, got, ask } = await open()
  await ask('one')
  await ask('two')
  socket.end()
  await until('the connection is over', () => got.events.includes('close'))
  expect(got).toMatchObject({ text: 'ONETWOBYE', events: ['end', 'close'] })
  await until('the proxy has no connection', () => proxy.connections === 0)
})

test('the proxy delays each way, and keeps the order even when the delay ends', async () => {
  const { socket, got, ask } = await open()
  await ask('a')
  proxy.behave({ requestDelayMs: 60, replyDelayMs: 40 })
  const fromMs = performance.now()
  await ask('b')
  expect(performance.now() - fromMs).toBeGreaterThanOrEqual(98)
  proxy.behave({ requestDelayMs: 5000 })
  socket.write('c')
  await until('the bytes are written to the proxy', () => socket.bytesWritten === 3)
  await new Promise((resolve) => setTimeout(resolve, 30))
  proxy.behave({})
  await ask('d')
  expect(got.text).toBe('ABCD')
})

test.each([
  ['requests', ''],
  ['replies', 'one'],
  ['both', ''],
] as const)('the proxy swallows %s, and leaves the connection open', async (swallow, expected) => {
  const { socket, got, ask } = await open()
  proxy.behave({ swallow })
  socket.write('one')
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(heard).toBe(expected)
  expect(got).toMatchObject({ text: '', events: [] })
  proxy.behave({})
  await ask('two')
  expect(got.text).toBe('TWO')
})

test('the proxy forwards replies byte by byte, and the rest at once when that ends', async () => {
  const { socket, got } = await open()
  proxy.behave({ msPerByte: 5 })
  socket.write('word')
  await until('the whole reply has arrived', () => got.text === 'WORD', { everyMs: 1 })
  expect(got.chunks).toEqual(['W', 'O', 'R', 'D'])
  proxy.behave({ msPerByte: 1000 })
  socket.write('another')
  await until('the second reply has begun', () => got.text === 'WORDA', { everyMs: 1 })
  proxy.behave({})
  await until('the rest of the reply has arrived', () => got.text === 'WORDANOTHER')
  expect(got.chunks.at(-1)).toBe('NOTHER')
})

test.each([
  [0, ''],
  [2, 'ON'],
])('the proxy closes with FIN after %d bytes of the next reply', async (cutReplyAt, expected) => {
  const { socket, got } = await open()
  proxy.behave({ cutReplyAt })
  socket.write('one')
  await until('the connection is closed', () => got.events.includes('end'))
  expect(heard).toBe('one')
  expect(got).toMatchObject({ text: expected, events: ['end'] })
})

test.each([
  ['reset', ['ECONNRESET', 'close']],
  ['end', ['end']],
] as const)('the proxy cuts all connections: %s', async (how, events) => {
  const all = await Promise.all([open(), open()])
  for (const { ask } of all) await ask('one')
  proxy.cut(how)
  for (const { got } of all) await until('each connection is cut', () => got.events.length === events.length)
  for (const { got } of all) expect(got.events).toEqual(events)
  const { ask } = await open()
  await ask('two')
})

test.each([
  ['reset', ['ECONNRESET', 'close']],
  ['close', ['end']],
] as const)(
  'the proxy calls onRequest for each request, and answers with %s if that says so',
  async (verdict, events) => {
    const { socket, got, ask } = await open()
    proxy.behave({ onRequest: (bytes) => (bytes.includes('bad') ? verdict : 'pass') })
    await ask('good')
    socket.write('bad')
    await until('the connection is over', () => got.events.length === events.length)
    expect(got.events).toEqual(events)
    expect(heard).toBe('good')
  },
)

test('the proxy ends one half of a connection', async () => {
  const first = await open()
  await first.ask('one')
  proxy.halfClose('replies')
  await until('no more replies come', () => first.got.events.includes('end'))
  first.socket.write('two')
  await until('requests still pass', () => heard === 'onetwo')
  expect(first.got).toMatchObject({ text: 'ONE', events: ['end'] })
  first.socket.destroy()
  await until('the proxy has no connection', () => proxy.connections === 0)

  const second = await open()
  await second.ask('three')
  proxy.halfClose('requests')
  await until('the server has ended it', () => second.got.text === 'THREEBYE')
})

test('the proxy refuses connections until it accepts them again, and keeps existing ones', async () => {
  const { ask } = await open()
  await ask('one')
  await proxy.refuse()
  const refused = connect({ host: proxy.host, port: proxy.port })
  await expect(text(refused)).rejects.toThrow('ECONNREFUSED')
  await ask('two')
  await proxy.accept()
  await (await open()).ask('three')
})

test('the proxy resets a connection while the server is down', async () => {
  const nobody = await startProxy({ host: '127.0.0.1', port: 1 })
  const socket = connect({ host: nobody.host, port: nobody.port })
  await expect(text(socket)).rejects.toThrow('ECONNRESET')
  await nobody.stop()
})
