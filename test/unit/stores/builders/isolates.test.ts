import { fixedWindow, memoryStore, type Store } from 'headgate'
import { ownerStore, serveOperations } from 'headgate/store'
import { assumeIsolate } from '../../../../src/platform.js'
import { part } from '../../../../src/testing/conformance/store-calls.js'
import { LockingDatabase, storeIn as lockingStoreIn } from './locking-database.js'
import { VersionedDatabase, storeIn as versionedStoreIn } from './versioned-database.js'

beforeEach(() => assumeIsolate(true))
afterEach(() => assumeIsolate(undefined))

const policy = fixedWindow({ limit: 20, window: '1d' })
const charge = (key: string) => ({ type: 'charge', parts: [part(key, policy)] }) as const

/** Charges a key in calls of their own, as requests do. Returns how many were allowed. */
async function allowedOf(store: Store, count: number, key = 'key'): Promise<number> {
  const apply = async () => (await store.apply([charge(key)]))[0]
  const outcomes = await Promise.all(Array.from({ length: count }, apply))
  for (const outcome of outcomes) if (outcome instanceof Error) throw outcome
  return outcomes.filter((outcome) => (outcome as { allowed?: boolean }).allowed).length
}

const DATABASES = {
  compareAndSwapStore: () => versionedStoreIn(new VersionedDatabase()),
  transactionStore: () => lockingStoreIn(new LockingDatabase()),
}

test.each(Object.entries(DATABASES))(
  'on isolates, the requests of %s compete, and are limited exactly',
  async (_, make) => {
    expect(await allowedOf(make(), 30)).toBe(20)
  },
)

/** Returns a function whose first call never ends, as that of a request which has ended. */
function firstHangs<Args extends unknown[], T>(
  run: (...args: Args) => Promise<T>,
): (...args: Args) => Promise<T> {
  let calls = 0
  return (...args) => (calls++ === 0 ? new Promise<T>(() => undefined) : run(...args))
}

test.each(['read', 'swap'] as const)(
  'on isolates, no request waits for one whose %s never ends',
  async (name) => {
    const database = new VersionedDatabase()
    const hanging = {
      read: { read: firstHangs((keys: readonly string[]) => database.read(keys)) },
      swap: { swap: firstHangs((change: Parameters<typeof database.swap>[0]) => database.swap(change)) },
    }
    const store = versionedStoreIn(database, hanging[name])
    let hasEnded = false
    Promise.resolve(store.apply([charge('key')])).then(() => {
      hasEnded = true
    })
    expect(await allowedOf(store, 5)).toBe(5)
    expect(await allowedOf(store, 5, 'other')).toBe(5)
    expect(hasEnded).toBe(false)
  },
)

test('on isolates, each message to an owner has a timer of its own, which ends with it', async () => {
  jest.useFakeTimers()
  try {
    const serve = serveOperations(memoryStore())
    const replies: (() => void)[] = []
    const store = ownerStore({
      name: 'owner',
      async send(message) {
        await new Promise<void>((resolve) => replies.push(resolve))
        return serve(message)
      },
    })
    const [first, second, third] = [1, 2, 3].map(() => store.apply([charge('key')]))
    expect(jest.getTimerCount()).toBe(3)
    replies[1]?.()
    expect(await second).toMatchObject([{ allowed: true }])
    expect(jest.getTimerCount()).toBe(2)
    jest.advanceTimersByTime(5001)
    for (const late of [first, third])
      expect(await late).toMatchObject([{ message: 'owner: no reply within 5000 ms', unsent: false }])
    expect(jest.getTimerCount()).toBe(0)
  } finally {
    jest.useRealTimers()
  }
})
