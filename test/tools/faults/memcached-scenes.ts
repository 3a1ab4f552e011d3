import { once } from 'node:events'
import { connect } from 'node:net'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { commonFaults, repeat } from './common-faults.js'
import { behindProxy, type Fault, type Scene, type Stage } from './stage.js'

type MemcachedStage = Stage & { readonly server: MemcachedServer }

const flushed: Fault<MemcachedStage> = {
  name: 'flushed',
  losses: 1,
  isHarmless: true,
  inflict: ({ server }) => server.command('flush_all'),
}

const evicting: Fault<MemcachedStage> = {
  name: 'evicting',
  losses: 3, // one a round
  isHarmless: true,
  async inflict({ server }) {
    let round = 0
    await repeat(1500, 500, () => pushOut(server, round++))
  },
}

function scene(faults: readonly Fault<MemcachedStage>[], args: readonly string[]): Scene<MemcachedStage> {
  return {
    store: 'memcached',
    faults,
    async start() {
      const server = await startMemcached({ own: true, args })
      const target = ({ url }: { url: string }) => ({ kind: 'memcached' as const, url })
      return behindProxy(server, target, () => server.command('version'), {})
    },
  }
}

export const memcached = scene([...commonFaults(1), flushed], [])
/** One that is small. */
export const smallMemcached = scene([evicting], ['-m', '4'])

/** Writes many items of the sizes that the store's items have. */
async function pushOut({ host, port }: MemcachedServer, round: number): Promise<void> {
  const socket = connect({ host, port })
  await once(socket, 'connect')
  for (const length of [1, 30, 60]) {
    const items = Array.from(
      { length: 5000 },
      (_, i) =>
        `set other-data-of-somebody-else-${round}-${i} 0 0 ${length} noreply\r\n${'x'.repeat(length)}\r\n`,
    )
    socket.write(items.join(''))
  }
  socket.end('version\r\n')
  await once(socket.resume(), 'close')
}
