import { createLimiter, fixedWindow, memoryStore, type Store } from 'headgate'
import { ownerStore, serveOperations } from 'headgate/store'
import { LockingDatabase, storeIn as lockingStoreIn } from './locking-database.js'
import { VersionedDatabase, storeIn as versionedStoreIn } from './versioned-database.js'

/** Charges two limits of two clients, all at once. Returns how many charges were allowed. */
async function chargeAtOnce(store: Store): Promise<number> {
  const limiter = createLimiter<string>({
    limits: [
      { name: 'client', policy: fixedWindow({ limit: 3, window: '1h' }), key: (client) => client },
      { name: 'all', policy: fixedWindow({ limit: 9, window: '1d' }), key: () => 'all' },
    ],
    store,
    timeout: '10s',
    denyCache: false,
    onStoreError: 'deny',
  })
  const clients = ['a', 'b', 'a', 'a', 'a']
  const decisions = await Promise.all(clients.map((client) => limiter.charge(client)))
  return decisions.filter(({ allowed }) => allowed).length
}

test('ownerStore sends each operation in its own message, at once', async () => {
  const messages: number[] = []
  const replies: (() => void)[] = []
  const serve = serveOperations(memoryStore())
  const store = ownerStore({
    name: 'owner',
    batching: false,
    async send(message) {
      messages.push(message.operations.length)
      await new Promise<void>((resolve) => replies.push(resolve))
      return serve(message)
    },
  })
  expect(store.batching).toBeUndefined()
  const allowed = chargeAtOnce(store)
  expect(messages).toEqual([1, 1, 1, 1, 1]) // none waits for the reply to another
  for (const resolve of replies) resolve()
  expect(await allowed).toBe(4)
})

test('ownerStore decides a charge of several owners piece by piece, each in its own message', async () => {
  const owners = new Map<string, (message: unknown) => Promise<unknown>>()
  const sizes = new Set<number>()
  const store = ownerStore({
    name: 'owners',
    batching: false,
    ownerOf: (key) => key,
    async send(message, owner) {
      sizes.add(message.operations.length)
      const serve = owners.get(owner) ?? serveOperations(memoryStore())
      owners.set(owner, serve)
      return serve(message)
    },
  })
  expect(await chargeAtOnce(store)).toBe(4)
  expect(owners.size).toBe(3)
  expect(sizes).toEqual(new Set([1]))
})

test('compareAndSwapStore reads each key alone', async () => {
  const database = new VersionedDatabase()
  expect(await chargeAtOnce(versionedStoreIn(database, { batching: false }))).toBe(4)
  expect(new Set(database.reads.map((keys) => keys.length))).toEqual(new Set([1]))
})

test('transactionStore begins a transaction for each operation', async () => {
  const database = new LockingDatabase()
  expect(await chargeAtOnce(lockingStoreIn(database, { batching: false }))).toBe(4)
  expect(database.transactions - database.deadlocks).toBe(5)
})
