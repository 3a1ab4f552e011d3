import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createLimiter, fixedWindow } from 'headgate'
import { promisingStore } from '../../support/fault-stores.js'
import { nextTurn } from '../../support/next-turn.js'

const COUNT = 10_000
const MAX_BYTES = 10_000

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/** Returns the bytes of heap in use. */
function heapBytes(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length

test.each([
  ['in memory', undefined],
  ['with a store that answers later', promisingStore()],
])('10,000 wait for one key %s: in order, none lost, one timer, bounded memory', async (_how, store) => {
  const policy = fixedWindow({ limit: COUNT, window: '1h', startsAt: 'first-request' })
  const limiter = createLimiter({ policy, key: (id: string) => id, ...(store && { store }) })
  await limiter.charge('a', { cost: COUNT })
  const order: number[] = []
  const before = { bytes: heapBytes(), timers: timers() }
  const waits = Array.from({ length: COUNT }, () => limiter.waitFor('a'))
  for (const [i, wait] of waits.entries()) wait.then(() => order.push(i))
  await nextTurn()
  expect((heapBytes() - before.bytes) / COUNT).toBeLessThan(MAX_BYTES)
  expect(timers() - before.timers).toBe(1)
  expect(store?.charges.length ?? 2).toBe(2)

  const beyond = await limiter.waitFor('a')
  expect(beyond).toMatchObject({ allowed: false, limit: COUNT, remaining: 0 })
  expect(await limiter.waitFor('b')).toMatchObject({ allowed: true })

  await limiter.forget('a')
  const decisions = await Promise.all(waits)
  expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(COUNT)
  expect(order).toEqual(order.map((_, i) => i))
  expect(await limiter.peek('a')).toMatchObject({ remaining: 0 })
})
