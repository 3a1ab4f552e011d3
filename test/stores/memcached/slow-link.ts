import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { MemcachedServer } from '../../servers/memcached.js'

/** Stands before a real server, and lets each request be on its way for so long. */
export interface SlowLink {
  /** As memjs takes it. */
  readonly url: string
  stop(): Promise<void>
}

export async function startSlowLink({ host, port }: MemcachedServer, delayMs: number): Promise<SlowLink> {
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    return socket
  }
  const listener = createServer((client) => {
    const server = keep(connect({ host, port }))
    keep(client).on('data', (request) => setTimeout(() => server.write(request), delayMs))
    server.pipe(client)
  })
  await once(listener.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `127.0.0.1:${(listener.address() as AddressInfo).port}`,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => listener.close(resolve))
    },
  }
}
