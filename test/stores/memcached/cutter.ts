import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { MemcachedServer } from '../../servers/memcached.js'

/** What becomes of a connection, as it is made. */
export type Way =
  | 'pass' // to the server and back
  | 'close' // closed in good order when something comes; the server hears nothing
  | 'swallow' // the server hears all, and the connection is closed in good order instead of its reply
  | 'half' // the server hears all, and the connection is closed in good order after the first bytes of its reply

/** Stands before a real server, and closes connections in good order while requests are on their way. */
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
    if (cutter.way === 'close') {
      client.once('data', () => client.end())
      return
    }
    const server = connect({ host, port })
    keep(server)
    client.pipe(server)
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
