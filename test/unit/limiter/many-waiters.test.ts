import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { createLimiter, fixedWindow } from 'headgate'
import { lateStore, promisingStore } from '../../support/fault-stores.js'
import { nextTurn } from '../../support/next-turn.js'

/** One key may take half of 10,000 places. */
const MAX_WAITERS = 5000
const MAX_BYTES_PER_WAITER = 8192

const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length

test.each([
  [MAX_WAITERS, 'in memory', undefined],
  [1000, 'with a store that answers later', promisingStore()],
])('%d wait for one key %s: in order, none lost, one timer', async (count, _how, store) => {
  const policy = fixedWindow({ limit: count, window: '1h', startsAt: 'first-request' })
  const limiter = createLimiter({ policy, key: (id: string) => id, ...(store && { store }) })
  await limiter.charge('a', { cost: count })
  const order: number[] = []
  const before = timers()
  const waits = Array.from({ length: count }, () => limiter.waitFor('a'))
  for (const [i, wait] of waits.entries()) wait.then(() => order.push(i))
  await nextTurn()
  expect(timers() - before).toBeLessThanOrEqual(1) // those of earlier test files end meanwhile
  expect(store?.charges.length ?? 2).toBe(2)

  if (count === MAX_WAITERS) {
    const beyond = await limiter.waitFor('a')
    expect(beyond).toMatchObject({ allowed: false, limit: count, remaining: 0 })
  }
  expect(await limiter.waitFor('b')).toMatchObject({ allowed: true })

  await limiter.forget('a')
  const decisions = await Promise.all(waits)
  expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(count)
  expect(order).toEqual(order.map((_, i) => i))
  expect(await limiter.peek('a')).toMatchObject({ remaining: 0 })
})

test('5000 who wait take a bounded memory', async () => {
  // In a process of its own: what earlier test files leave in a worker, an AsyncLocalStorage for one, adds to
  // every promise.
  const program = `
    import { createLimiter, fixedWindow } from 'headgate'
    const policy = fixedWindow({ limit: 1, window: '1h' })
    const limiter = createLimiter({ policy, key: (id) => id })
    await limiter.charge('a')
    const heapBytes = () => (gc(), process.memoryUsage().heapUsed)
    const before = heapBytes()
    const waits = Array.from({ length: ${MAX_WAITERS} }, () => limiter.waitFor('a'))
    await new Promise(setImmediate)
    console.log((heapBytes() - before) / ${MAX_WAITERS})
    await limiter.close()
    await Promise.all(waits)`
  const args = ['--expose-gc', '--import', 'tsx', '--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  expect(Number(stdout)).toBeGreaterThan(0)
  expect(Number(stdout)).toBeLessThan(MAX_BYTES_PER_WAITER)
})

test('clients share the 10,000 places, also those that wait for a limit of all, so that a new one finds one', async () => {
  const policy = fixedWindow({ limit: 20_000, window: '1h', startsAt: 'first-request' })
  const limiter = createLimiter<string>({
    limits: [
      { name: 'all', policy, key: () => 'all' },
      { name: 'client', policy, key: (id) => id },
    ],
  })
  await limiter.charge('ops', { cost: 20_000 })
  const waits = (client: string, count: number) =>
    Array.from({ length: count }, () => limiter.waitFor(client))
  const sent = [waits('greedy', 6000), waits('also greedy', 3000), waits('new', 1)]
  await nextTurn()
  await limiter.forget('ops')
  const allowed = sent.map(async (some) => (await Promise.all(some)).filter((each) => each.allowed).length)
  expect(await Promise.all(allowed)).toEqual([5000, 2500, 1])
})

test('one more is denied, and overtakes nobody, also before the store has answered', async () => {
  const store = lateStore()
  const policy = fixedWindow({ limit: 100, window: '1h', startsAt: 'first-request' })
  const limiter = createLimiter({ policy, key: (id: string) => id, store, timeout: 60_000 })
  const first = limiter.waitFor('a')
  await nextTurn()
  const waits = Array.from({ length: MAX_WAITERS }, () => limiter.waitFor('a'))
  const beyond = limiter.waitFor('a')
  await nextTurn()
  store.answerAll()
  expect(await beyond).toMatchObject({ allowed: false, source: 'fail-closed' })
  expect(await first).toMatchObject({ allowed: true, remaining: 99 })
  await nextTurn()
  const closing = limiter.close()
  store.answerAll() // to those who have their turn
  const decisions = await Promise.all(waits)
  await closing
  const allowed = decisions.filter((decision) => decision.allowed).length
  expect(decisions.slice(0, allowed).every((decision) => decision.allowed)).toBe(true)
})
