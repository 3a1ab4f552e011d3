import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

const CONNECTIONS = 16
/** How many requests of each connection are a burst: together, they keep a server busy for some 10 ms. */
const IN_A_BURST = 8
const PAUSE_MS = 4
const STATUS = /HTTP\/1\.1 (\d{3})/g

/** Kept connections to a server. */
export interface BurstClient {
  /** Sends bursts of so many requests, and returns how often each status was the answer. */
  send(bursts: number): Promise<Readonly<Record<string, number>>>
  end(): void
}

export const BURST = CONNECTIONS * IN_A_BURST

/**
 * Connects to a server that is busy, but not overloaded: between two bursts it has a moment to catch up. Each
 * connection sends a request once the one before it was answered, as nearly all clients do. The headers of an
 * answer have to fit into one packet.
 */
export async function connectForBursts(port: number, request: string): Promise<BurstClient> {
  const sockets = await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true }).setEncoding('latin1')
      await once(socket, 'connect')
      return socket
    }),
  )
  return {
    async send(bursts) {
      const statuses: Record<string, number> = {}
      for (let i = 0; i < bursts; i++) {
        await Promise.all(sockets.map((socket) => converse(socket, request, statuses)))
        await pause(PAUSE_MS)
      }
      return statuses
    },
    end() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

function converse(socket: Socket, request: string, statuses: Record<string, number>): Promise<void> {
  return new Promise((resolve, reject) => {
    if (socket.destroyed) throw new Error('A connection was closed.')
    let left = IN_A_BURST
    const onClose = () => reject(new Error('A connection was closed.'))
    const onData = (packet: string) => {
      for (const [, status = ''] of packet.matchAll(STATUS)) {
        statuses[status] = (statuses[status] ?? 0) + 1
        if (--left > 0) socket.write(request)
      }
      if (left > 0) return
      socket.off('data', onData).off('close', onClose)
      resolve()
    }
    socket.on('data', onData).on('close', onClose)
    socket.write(request)
  })
}
