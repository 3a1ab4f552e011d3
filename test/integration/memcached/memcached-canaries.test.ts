import { setTimeout as pause } from 'node:timers/promises'
import { ban, memcachedStore, slidingWindow } from 'headgate'
import { LONG, LONG_POLICIES, takeOne } from '../../conformance/kit.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { classesOn, connections } from './kit.js'

const { open, closeAll } = connections()
let server: MemcachedServer

beforeAll(async () => {
  server = await startMemcached({ own: true })
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  closeAll()
  await server?.stop()
})

const LARGE = [
  'ban from a slidingWindow',
  (limit: number) => ban(slidingWindow({ limit, window: LONG }), { after: 1, within: '1d', for: '1d' }),
] as const

test.each([...LONG_POLICIES, LARGE])(
  'for items of every size there are canaries in the same class of chunks: %s',
  async (_, policyOf) => {
    await server.restart()
    const store = memcachedStore(open(server.url))
    const policy = policyOf(10_000)
    for (let length = 30; length <= 220; length++) {
      for (const cost of [1, 1234]) await takeOne(store, `${cost}-`.padEnd(length, 'x'), policy, cost)
    }
    await pause(50) // the looks are over
    const classes = [...(await classesOn(server))]
    const classesOf = (isOf: (key: string) => boolean) =>
      new Set(classes.filter(([key]) => isOf(key)).map(([, slab]) => slab))
    const ofItems = classesOf((key) => /^1(234)?-x/.test(key))
    expect(ofItems.size).toBeGreaterThan(3)
    expect(classesOf((key) => key.startsWith('hg:canary:10s:'))).toEqual(ofItems)
    expect(classesOf((key) => key.startsWith('hg:canary:600s:'))).toEqual(ofItems)
  },
)
