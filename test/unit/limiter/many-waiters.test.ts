import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { createLimiter, fixedWindow } from 'headgate'
import { lateStore, promisingStore } from '../../support/fault-stores.js'
import { nextTurn } from '../../support/next-turn.js'
import { type Bundle, bundle } from '../../support/servers/bundle.js'

/** One key may take half of 10,000 places. */
const MAX_WAITERS = 5000
const MAX_BYTES_PER_WAITER = 8192

let headgate: Bundle

beforeAll(async () => {
  headgate = await bundle('src/index.ts')
})

afterAll(() => headgate?.remove())

const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length

/**
 * Runs a program in its own process, and returns what it prints as JSON. What earlier test files leave in a
 * worker, such as an AsyncLocalStorage, adds to the memory and the time of every promise.
 */
async function runProgram(program: string): Promise<Record<string, unknown>> {
  const code = `import { createLimiter, fixedWindow } from ${JSON.stringify(headgate.path)}\n${program}`
  const args = ['--expose-gc', '--input-type=module', '--eval', code]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return JSON.parse(stdout)
}

test('5000 charges wait for one key in memory: in order, none lost, with one timer and bounded memory', async () => {
  const { bytes, ...rest } = await runProgram(`
    const count = ${MAX_WAITERS}
    const policy = fixedWindow({ limit: count, window: '1h', startsAt: 'first-request' })
    const limiter = createLimiter({ policy, key: (id) => id })
    await limiter.charge('a', { cost: count })
    const heapBytes = () => (gc(), process.memoryUsage().heapUsed)
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    const before = { bytes: heapBytes(), timers: timers() }
    const waits = Array.from({ length: count }, () => limiter.waitFor('a'))
    await new Promise(setImmediate)
    const bytes = (heapBytes() - before.bytes) / count
    const order = []
    for (const [i, wait] of waits.entries()) wait.then(() => order.push(i))
    const newTimers = timers() - before.timers
    const beyond = await limiter.waitFor('a')
    const other = await limiter.waitFor('b')
    await limiter.forget('a')
    const allowed = (await Promise.all(waits)).filter((decision) => decision.allowed).length
    const isInOrder = order.every((each, i) => each === i)
    const { remaining } = await limiter.peek('a')
    console.log(JSON.stringify({ bytes, newTimers, beyond, other, allowed, isInOrder, remaining }))`)
  expect(rest).toMatchObject({
    newTimers: 1,
    beyond: { allowed: false, limit: MAX_WAITERS, remaining: 0 },
    other: { allowed: true },
    allowed: MAX_WAITERS,
    isInOrder: true,
    remaining: 0,
  })
  expect(bytes).toBeGreaterThan(0)
  expect(bytes).toBeLessThan(MAX_BYTES_PER_WAITER)
})

test('1000 charges wait for one key in a store that replies later: in order, none lost, with one timer', async () => {
  const store = promisingStore()
  const policy = fixedWindow({ limit: 1000, window: '1h', startsAt: 'first-request' })
  const limiter = createLimiter({ policy, key: (id: string) => id, store })
  await limiter.charge('a', { cost: 1000 })
  const order: number[] = []
  const before = timers()
  const waits = Array.from({ length: 1000 }, () => limiter.waitFor('a'))
  for (const [i, wait] of waits.entries()) wait.then(() => order.push(i))
  await nextTurn()
  expect(timers() - before).toBeLessThanOrEqual(1) // those of earlier test files end meanwhile
  expect(store.charges).toHaveLength(2)
  expect(await limiter.waitFor('b')).toMatchObject({ allowed: true })
  await limiter.forget('a')
  const decisions = await Promise.all(waits)
  expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(1000)
  expect(order).toEqual(order.map((_, i) => i))
  expect(await limiter.peek('a')).toMatchObject({ remaining: 0 })
})

test('clients share the 10,000 places, even while they wait for a shared limit, so a new client finds one', async () => {
  const { allowed } = await runProgram(`
    const policy = fixedWindow({ limit: 20_000, window: '1h', startsAt: 'first-request' })
    const limiter = createLimiter({
      limits: [
        { name: 'all', policy, key: () => 'all' },
        { name: 'client', policy, key: (id) => id },
      ],
    })
    await limiter.charge('ops', { cost: 20_000 })
    const waits = (client, count) => Array.from({ length: count }, () => limiter.waitFor(client))
    const sent = [waits('greedy', 6000), waits('also greedy', 3000), waits('new', 1)]
    await new Promise(setImmediate)
    await limiter.forget('ops')
    const count = async (some) => (await Promise.all(some)).filter((each) => each.allowed).length
    console.log(JSON.stringify({ allowed: await Promise.all(sent.map(count)) }))`)
  expect(allowed).toEqual([5000, 2500, 1])
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
