import { setTimeout as pause } from 'node:timers/promises'
import { createLimiter, type Decision } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import { chargedParts } from '../../../src/limiter/decision.js'
import { itemKey } from '../../../src/stores/memcached/protocol.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { startAll, stopAll, until } from '../../support/servers/wait.js'
import { connections } from './clients.js'

const CLIENTS = Array.from({ length: 40 }, (_, i) => `client-${i}`)
const { open, closeAll } = connections()
let servers: MemcachedServer[] = []

beforeAll(async () => {
  servers = await startAll(Array.from({ length: 4 }, () => startMemcached({ own: true })))
}, INSTALL_TIMEOUT_MS)

afterEach(closeAll)

afterAll(() => stopAll(servers))

test.each([
  ['two', 'killed', 2, 'SIGKILL'],
  ['four', 'frozen', 4, 'SIGSTOP'],
] as const)(
  'one of %s servers that was %s keeps no charge from the others',
  async (_, _how, count, signal) => {
    const [lost] = servers as [MemcachedServer]
    const client = open(
      servers
        .slice(0, count)
        .map(({ url }) => url)
        .join(','),
    )
    const store = memcachedStore(client)
    const limiter = createLimiter({
      limit: 1_000_000,
      window: '1h',
      key: (id: string) => id,
      store,
      timeout: '5s',
    })
    let hasOpened = false
    limiter.events.on('storeError', () => undefined)
    limiter.events.on('storeState', (state) => {
      hasOpened ||= state === 'open'
    })
    const serverOf = (decision: Decision) =>
      client.server(itemKey(chargedParts(decision)?.[0]?.key ?? ''))?.port
    const first = await Promise.all(CLIENTS.map((id) => limiter.charge(id)))
    const theirs = CLIENTS.filter((_id, i) => Number(serverOf(first[i] as Decision)) === lost.port)
    const others = CLIENTS.filter((id) => !theirs.includes(id))
    await lost.kill(signal)
    const sources: string[] = []
    for (let round = 0; round < 60 || !hasOpened; round++) {
      const lostCharges = Promise.all(theirs.map((id) => limiter.charge(id)))
      const decisions = await Promise.all(others.map((id) => limiter.charge(id)))
      sources.push(...decisions.map(({ source }) => source))
      await Promise.race([lostCharges, pause(20)])
    }
    expect(sources.filter((source) => source !== 'store')).toEqual([])
    expect((await limiter.charge(theirs[0] as string)).source).toBe('local')
    const health = await until('no probe is on its way', async () => {
      const found = await limiter.health()
      return found.state === 'open' && found
    })
    expect(health).toMatchObject({ cause: { server: lost.url } })
    await lost.restart()
    await limiter.close()
  },
  30_000,
)
