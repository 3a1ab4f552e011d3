import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

const LOWEST = 11_000
const HIGHEST = 21_000

/**
 * A port of 127.0.0.1 that nobody listens on, and neither on the ports that lie `offsets` above it. All are
 * below 32768, where Linux begins to hand out ports to clients: so a server that was killed finds its port
 * free when it comes back, and a client that tries to reconnect meanwhile cannot connect to itself.
 */
export async function freePort(offsets: readonly number[] = []): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(LOWEST, HIGHEST)
    const free = await Promise.all([port, ...offsets.map((offset) => port + offset)].map(isFree))
    if (free.every(Boolean)) return port
  }
  throw new Error(`There is no free port between ${LOWEST} and ${HIGHEST}.`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)))
  })
}
