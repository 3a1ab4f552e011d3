import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { MemcachedServer } from '../../servers/memcached.js'

/** Of memcached's binary protocol: a request's opcode is its second byte, and its length without the header is at 8. */
const HEADER_LENGTH = 24
const DECREMENT = 0x06

/** What becomes of a connection, as it is made. */
export type Way =
  | 'pass' // to the server and back
  | 'mute' // open, and the server hears nothing
  | 'close' // closed in good order when something comes; the server hears nothing
  | 'swallow' // the server hears all, and the connection is closed in good order instead of its reply
  | 'half' // the server hears all, and the connection is closed in good order after the first bytes of its reply
  | 'reset' // to the server and back until something is given back: then it is reset, and the server does not hear of that

/** Stands before a real server, and closes connections while requests are on their way. */
export interface Cutter {
  /** As memjs takes it. */
  readonly url: string
  /** Holds for connections to come. */
  way: Way
  /** Closes all connections, so that the next request makes a new one. */
  cut(): void
  stop(): Promise<void>
}

export async function startCutter({ host, port }: MemcachedServer): Promise<Cutter> {
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
  }
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const listener = createServer((client) => {
    keep(client)
    if (cutter.way === 'mute') return
    if (cutter.way === 'close') {
      client.once('data', () => client.end())
      return
    }
    const server = connect({ host, port })
    keep(server)
    if (cutter.way === 'reset') passUntilGivenBack(client, server)
    else client.pipe(server)
    if (cutter.way === 'swallow') server.once('data', () => client.end())
    else if (cutter.way === 'half') server.once('data', (reply: Buffer) => client.end(reply.subarray(0, 10)))
    else server.pipe(client)
  })
  await once(listener.listen(0, '127.0.0.1'), 'listening')
  const cutter: Cutter = {
    url: `127.0.0.1:${(listener.address() as AddressInfo).port}`,
    way: 'pass',
    cut,
    async stop() {
      cut()
      await new Promise((resolve) => listener.close(resolve))
    },
  }
  return cutter
}

function passUntilGivenBack(client: Socket, server: Socket): void {
  client.on('data', (requests: Buffer) => {
    if (!opcodesIn(requests).includes(DECREMENT)) {
      server.write(requests)
      return
    }
    client.resetAndDestroy()
    server.destroy()
  })
}

/** What is asked, where all requests are whole, as the few of a test are. */
function opcodesIn(requests: Buffer): number[] {
  const opcodes: number[] = []
  for (let at = 0; at < requests.length; at += HEADER_LENGTH + requests.readUInt32BE(at + 8)) {
    opcodes.push(requests.readUInt8(at + 1))
  }
  return opcodes
}
