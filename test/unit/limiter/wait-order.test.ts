import { createLimiter, fixedWindow, memoryStore, tokenBucket } from 'headgate'
import { lateStore, promisingStore } from '../../support/fault-stores.js'
import { nextTurn } from '../../support/next-turn.js'

const key = (id: string) => id
const hourly = (limit: number) => fixedWindow({ limit, window: '1h', startsAt: 'first-request' })

/** Returns a limiter with one limit for each user and one for each route, and waits for its charges. */
function usersAndRoutes(policies: { user: number; route: number }, store = promisingStore()) {
  const limiter = createLimiter<{ user: string; route: string }>({
    limits: [
      { name: 'user', policy: hourly(policies.user), key: ({ user }) => user },
      { name: 'route', policy: hourly(policies.route), key: ({ route }) => route },
    ],
    store,
    timeout: '5s',
  })
  const order: string[] = []
  const waitFor = (user: string, route: string) =>
    limiter.waitFor({ user, route }).then(({ allowed }) => allowed && order.push(`${user} ${route}`))
  return { limiter, order, waitFor }
}

test('who shares its keys with two crowds is served at its place among both', async () => {
  const { order, waitFor } = usersAndRoutes({ user: 50, route: 50 })
  const crowd = (count: number) =>
    Array.from({ length: count }, () => [waitFor('ada', 'other'), waitFor('other', 'home')])
  const waits = [...crowd(3), waitFor('ada', 'home'), ...crowd(20)]
  await Promise.all(waits.flat())
  const place = order.indexOf('ada home')
  expect(order.slice(0, place).sort()).toEqual([
    ...Array(3).fill('ada other'),
    ...Array(3).fill('other home'),
  ])
})

test('who waits for one limit gets its place among those that wait for another afterwards', async () => {
  const { limiter, order, waitFor } = usersAndRoutes({ user: 1, route: 3 })
  await Promise.all([waitFor('ada', 'home'), waitFor('bob', 'home'), waitFor('cy', 'home')])
  order.length = 0
  const waits = [waitFor('ada', 'home'), waitFor('dee', 'home'), waitFor('eve', 'home')]
  await nextTurn()
  await limiter.reward({ user: 'ada', route: 'none' }, 1, { limits: ['user'] })
  await nextTurn()
  expect(order).toEqual([])
  for (const _ of waits) await limiter.reward({ user: 'none', route: 'home' }, 1, { limits: ['route'] })
  await Promise.all(waits)
  expect(order).toEqual(['ada home', 'dee home', 'eve home'])
})

test('while the first of a queue charges, its abort lets the second charge, at its place', async () => {
  const limiter = createLimiter({ policy: hourly(1), key, store: promisingStore() })
  const controller = new AbortController()
  const aborted = limiter.waitFor('a', { signal: controller.signal })
  const order: number[] = []
  const waits = [1, 2].map((i) => limiter.waitFor('a', { maxWait: '30m' }).finally(() => order.push(i)))
  controller.abort(new Error('too late'))
  await expect(aborted).rejects.toThrow('too late')
  expect(await Promise.all(waits)).toMatchObject([{ allowed: true }, { allowed: false, remaining: 0 }])
  expect(order).toEqual([1, 2])
})

test('when the first of a queue gives up, the next one sleeps on, and does not call the store', async () => {
  const store = promisingStore()
  const limiter = createLimiter({ policy: hourly(2), key, store, denyCache: false })
  await limiter.charge('a', { cost: 2 })
  const controllers = Array.from({ length: 5 }, () => new AbortController())
  const waits = Promise.allSettled(controllers.map(({ signal }) => limiter.waitFor('a', { signal })))
  await nextTurn()
  for (const controller of controllers.slice(0, 4)) {
    controller.abort()
    await nextTurn()
  }
  expect(store.charges).toHaveLength(2)
  await limiter.close()
  expect(await waits).toMatchObject([...Array(4).fill({ status: 'rejected' }), { value: { allowed: false } }])
})

test('when the first gives up, one behind it that needs less is served as soon as it may be', async () => {
  const limiter = createLimiter({ policy: hourly(2), key })
  await limiter.charge('a')
  const controller = new AbortController()
  const first = limiter.waitFor('a', { cost: 2, signal: controller.signal })
  const second = limiter.waitFor('a')
  await nextTurn()
  controller.abort(new Error('too late'))
  await expect(first).rejects.toThrow('too late')
  expect(await second).toMatchObject({ allowed: true, remaining: 0 })
})

test('when the charge of the first fails, the next one charges', async () => {
  const store = lateStore()
  const limiter = createLimiter({ policy: hourly(5), key, store, timeout: '5s', onStoreError: 'deny' })
  limiter.events.on('storeError', () => {})
  const waits = [1, 2, 3].map(() => limiter.waitFor('a'))
  await nextTurn()
  store.failAll(new Error('connection lost'))
  for (let i = 0; i < 4; i++) {
    await nextTurn()
    store.answerAll()
  }
  expect(await Promise.all(waits)).toMatchObject([
    { allowed: false, source: 'fail-closed' },
    { allowed: true, remaining: 4 },
    { allowed: true, remaining: 3 },
  ])
})

test.each([-3_600_000, 3_600_000])('a step of the clock by %d ms changes no wait', async (stepMs) => {
  jest.useFakeTimers()
  const policy = tokenBucket({ capacity: 1, refill: 1, every: '1m' })
  const limiter = createLimiter({ policy, key, store: memoryStore({ clock: () => performance.now() }) })
  const order: number[] = []
  const waits = [1, 2, 3].map((i) => limiter.waitFor('a', { maxWait: '5m' }).then(() => order.push(i)))
  await jest.advanceTimersByTimeAsync(30_000)
  jest.setSystemTime(Date.now() + stepMs)
  await jest.advanceTimersByTimeAsync(29_000)
  expect(order).toEqual([1])
  await jest.advanceTimersByTimeAsync(2000)
  expect(order).toEqual([1, 2])
  await jest.advanceTimersByTimeAsync(60_000)
  await Promise.all(waits)
  expect(order).toEqual([1, 2, 3])
  jest.useRealTimers()
})
