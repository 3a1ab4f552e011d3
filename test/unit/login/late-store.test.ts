import { setTimeout as pause } from 'node:timers/promises'
import express, { type Request } from 'express'
import { loginGuard, memoryStore, type Store } from 'headgate'
import { customStore } from 'headgate/store'
import supertest from 'supertest'

const TIMEOUT_MS = 50

/** A correct store that answers charges after `delayMs`. */
function slowStore(): Store & { delayMs: number } {
  const memory = memoryStore()
  const store: Store & { delayMs: number } = customStore({
    name: 'slow',
    delayMs: 0,
    async apply(operations) {
      const outcomes = memory.apply(operations)
      if (operations.some(({ type }) => type === 'charge')) await pause(store.delayMs)
      return outcomes
    },
  })
  return store
}

test.each([
  ['in time', 100, 0],
  ['too late', 96, 3 * TIMEOUT_MS],
])(
  'four server errors whose store answered %s leave %d of 100 failures in a row',
  async (_when, left, delayMs) => {
    const store = slowStore()
    const guard = loginGuard({
      field: 'username',
      store,
      name: 'login',
      timeout: `${TIMEOUT_MS}ms`,
    })
    guard.limiter.events.on('storeError', () => undefined)
    const app = express().post('/login', express.json(), guard, (_req, res) => void res.sendStatus(503))
    store.delayMs = delayMs
    for (let i = 0; i < 4; i++) {
      expect((await supertest(app).post('/login').send({ username: 'ada' })).status).toBe(503)
    }
    await pause(2 * delayMs)
    store.delayMs = 0
    const { parts, source } = await guard.limiter.peek({ body: { username: 'ada' } } as Request)
    expect(source).toBe('store')
    expect(parts.find(({ name }) => name === 'consecutive')?.remaining).toBe(left)
  },
)
