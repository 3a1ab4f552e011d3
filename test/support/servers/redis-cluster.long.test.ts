import { Cluster, Redis } from 'ioredis'
import { INSTALL_TIMEOUT_MS } from './install.js'
import { type RedisCluster, SLOTS, startRedisCluster } from './redis-cluster.js'
import { until } from './wait.js'

let cluster: RedisCluster
let client: Cluster

beforeAll(async () => {
  cluster = await startRedisCluster({ replicasPerNode: 1 })
  client = new Cluster(cluster.nodes.map(({ host, port }) => ({ host, port })))
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  client?.disconnect()
  await cluster?.stop()
})

const slotOf = (key: string) => client.cluster('KEYSLOT', key)

/** A slot's owner, and a master that is not its owner. */
async function ownerAndOther(slot: number) {
  const from = await cluster.ownerOf(slot)
  const to = await cluster.ownerOf((slot + SLOTS / 2) % SLOTS)
  return { from, to }
}

test('three masters share all slots, and each has a replica', async () => {
  const ranges = (await client.cluster('SLOTS')) as [number, number, ...unknown[]][]
  expect(ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0)).toBe(SLOTS)
  expect(ranges.map(([, , ...nodes]) => nodes.length)).toEqual([2, 2, 2])
})

test('a client reads and writes on every node', async () => {
  const keys = Array.from({ length: 100 }, (_, i) => `key ${i}`)
  for (const key of keys) await client.set(key, `${key}!`)
  expect(await Promise.all(keys.map((key) => client.get(key)))).toEqual(keys.map((key) => `${key}!`))
  const sizes = await Promise.all(cluster.nodes.slice(0, 3).map((node) => node.cli('DBSIZE')))
  expect(sizes.every((size) => Number(size) > 0)).toBe(true)
  expect(sizes.reduce((sum, size) => sum + Number(size), 0)).toBe(100)
})

test('a migrating slot answers ASK, a moved slot MOVED, and the client follows', async () => {
  const key = 'a key that\nmoves'
  const slot = await slotOf(key)
  const { from, to } = await ownerAndOther(slot)
  await client.set(key, 'kept')
  const move = await cluster.startMove(slot, to)
  expect(await from.cli('GET', key)).toBe('kept')
  await move.migrateKeys()
  await expect(from.cli('GET', key)).rejects.toThrow(`ASK ${slot} 127.0.0.1:${to.port}`)
  await expect(to.cli('GET', key)).rejects.toThrow(`MOVED ${slot} 127.0.0.1:${from.port}`)
  expect(await client.get(key)).toBe('kept')
  await move.finish()
  await expect(from.cli('GET', key)).rejects.toThrow(`MOVED ${slot} 127.0.0.1:${to.port}`)
  expect(await client.get(key)).toBe('kept')
  expect(await cluster.ownerOf(slot)).toBe(to)
})

test('a slot moves there and back under load, and no increment is lost', async () => {
  const slot = await slotOf('counter')
  const { from, to } = await ownerAndOther(slot)
  let sent = 0
  let moving = true
  const load = Array.from({ length: 5 }, async () => {
    while (moving) {
      await client.incr('counter')
      sent++
    }
  })
  await until('the load is on', () => sent > 100)
  for (const target of [to, from]) {
    await cluster.moveSlot(slot, target)
    const before = sent
    await until('the load goes on', () => sent > before + 100)
  }
  moving = false
  await Promise.all(load)
  expect(await client.get('counter')).toBe(String(sent))
  await cluster.converge()
})

test('the replica of a killed master takes over, and the master comes back as its replica', async () => {
  const slot = await slotOf('survivor')
  const master = await cluster.ownerOf(slot)
  const direct = new Redis(master.url)
  await direct.set('survivor', 'kept')
  expect(await direct.wait(1, 10_000)).toBe(1)
  direct.disconnect()
  await master.kill()
  await cluster.converge()
  const heir = await cluster.ownerOf(slot)
  expect(cluster.nodes.indexOf(heir)).toBeGreaterThanOrEqual(3)
  expect(await heir.cli('GET', 'survivor')).toBe('kept')
  await master.restart()
  await until('the old master is a replica', async () => (await master.cli('ROLE')).startsWith('slave'))
  await cluster.converge()
  expect(await client.get('survivor')).toBe('kept')
})
