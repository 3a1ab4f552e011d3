import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { consecutive, fixedWindow, memoryStore, type Policy, slidingWindow, tokenBucket } from 'headgate'
import { bundle } from '../../../support/servers/bundle.js'
import { chargeStore, takeOne } from '../../../support/store-calls.js'

const DAY_MS = 24 * 3600 * 1000
const START_MS = 1_790_000_000_000

afterEach(() => {
  jest.restoreAllMocks()
  jest.useRealTimers()
})

const windowed: [string, (window: string) => Policy][] = [
  ['tokenBucket', (window) => tokenBucket({ capacity: 3, refill: 3, every: window })],
  ['slidingWindow', (window) => slidingWindow({ limit: 3, window })],
  ['fixedWindow', (window) => fixedWindow({ limit: 3, window })],
]

describe.each(['30d', '400d'])('a window of %s', (window) => {
  test.each(windowed)('limits to the millisecond with a %s', async (_name, policyOf) => {
    let nowMs = START_MS
    const store = memoryStore({ clock: () => nowMs })
    const policy = policyOf(window)
    await takeOne(store, 'key', policy, 3)
    const { allowed, retryAfterMs } = await takeOne(store, 'key', policy, 3)
    expect(allowed).toBe(false)
    expect(retryAfterMs).toBeGreaterThan(DAY_MS)
    nowMs += retryAfterMs - 1
    expect(await takeOne(store, 'key', policy, 3)).toMatchObject({ allowed: false, retryAfterMs: 1 })
    nowMs += 1
    expect(await takeOne(store, 'key', policy, 3)).toMatchObject({ allowed: true })
  })

  test.each(windowed)('limits with a %s on the real clock', async (_name, policyOf) => {
    const store = memoryStore()
    const policy = policyOf(window)
    await takeOne(store, 'key', policy, 3)
    for (let i = 0; i < 3; i++) expect((await takeOne(store, 'key', policy)).allowed).toBe(false)
  })
})

describe.each([
  ['ten years ahead', 3650 * DAY_MS],
  ['an hour ahead', DAY_MS / 24],
  ['an hour back', -DAY_MS / 24],
  ['ten years back', -3650 * DAY_MS],
])('the system clock set %s', (_name, stepMs) => {
  test.each([...windowed, ['consecutive', () => consecutive({ limit: 3 })] as const])(
    'grants nothing with a %s',
    async (_policy, policyOf) => {
      const store = memoryStore()
      const policy = policyOf('30d')
      const before = chargeStore(store, [[{ key: 'key', policy, cost: 3 }]])[0]?.atMs as number
      jest.useFakeTimers({
        doNotFake: ['performance', 'nextTick', 'queueMicrotask'],
        now: Date.now() + stepMs,
      })
      const [after] = chargeStore(store, [[{ key: 'key', policy, cost: 1 }]])
      expect(after?.allowed).toBe(false)
      expect(after?.atMs).toBeGreaterThanOrEqual(before)
      expect((after?.atMs as number) - before).toBeLessThan(60_000)
    },
  )
})

test('time starts at the system clock', () => {
  const atMs = chargeStore(memoryStore(), [[]])[0]?.atMs as number
  expect(Math.abs(atMs - Date.now())).toBeLessThan(60_000)
})

test('a custom clock that steps back grants nothing', async () => {
  for (const [, policyOf] of windowed) {
    let nowMs = START_MS
    const store = memoryStore({ clock: () => nowMs })
    await takeOne(store, 'key', policyOf('1h'), 3)
    nowMs -= 30 * 60_000
    expect((await takeOne(store, 'key', policyOf('1h'))).allowed).toBe(false)
  }
})

test('charging sets no timer', async () => {
  jest.useFakeTimers()
  const store = memoryStore()
  for (let i = 0; i < 100; i++)
    await takeOne(store, `key-${i}`, tokenBucket({ capacity: 3, refill: 3, every: '400d' }))
  expect(jest.getTimerCount()).toBe(0)
})

test('a store keeps no resource that would hold the process open', async () => {
  const headgate = await bundle('src/index.ts')
  const script = `
    import { memoryStore, tokenBucket } from ${JSON.stringify(headgate.path)}
    const policy = tokenBucket({ capacity: 3, refill: 3, every: '30d' })
    const before = process.getActiveResourcesInfo().sort()
    globalThis.store = memoryStore({ maxKeys: 10 })
    for (let i = 0; i < 100; i++)
      store.apply([{ type: 'charge', parts: [{ key: 'key-' + i, policy, cost: 1 }] }])
    const after = process.getActiveResourcesInfo().sort()
    console.log(JSON.stringify(before) === JSON.stringify(after) ? 'nothing left' : after)
  `
  const args = ['--input-type=module', '--eval', script]
  const running = promisify(execFile)(process.execPath, args, { timeout: 25_000 })
  const { stdout } = await running.finally(headgate.remove)
  expect(stdout).toBe('nothing left\n')
})
