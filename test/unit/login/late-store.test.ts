import express, { type Request } from 'express'
import { loginGuard, memoryStore, type Store } from 'headgate'
import { customStore } from 'headgate/store'
import supertest from 'supertest'
import { nextTurn } from '../../support/next-turn.js'

/** A correct store, whose replies to charges are held back while `isHeld`, until `reply()`. */
class HeldStore {
  isHeld = false
  readonly #memory = memoryStore()
  #held: (() => void)[] = []

  readonly store: Store = customStore({
    name: 'held',
    apply: async (operations) => {
      const outcomes = await this.#memory.apply(operations)
      if (this.isHeld && operations.some(({ type }) => type === 'charge'))
        await new Promise<void>((resolve) => this.#held.push(resolve))
      return outcomes
    },
  })

  /** Sends the replies, and waits for what they cause. */
  async reply(): Promise<void> {
    for (let turn = 0; turn < 20; turn++) {
      for (const each of this.#held.splice(0)) each()
      await nextTurn()
    }
  }
}

test.each([
  ['in time', 100, false, '1m'],
  ['too late', 96, true, '50ms'],
])(
  'four server errors whose store answered %s leave %d of 100 failures in a row',
  async (_when, left, isLate, timeout) => {
    const held = new HeldStore()
    const guard = loginGuard({ field: 'username', store: held.store, name: 'login', timeout })
    guard.limiter.events.on('storeError', () => undefined)
    const app = express().post('/login', express.json(), guard, (_req, res) => void res.sendStatus(503))
    held.isHeld = isLate
    for (let i = 0; i < 4; i++) {
      expect((await supertest(app).post('/login').send({ username: 'ada' })).status).toBe(503)
    }
    await held.reply()
    held.isHeld = false
    const { parts, source } = await guard.limiter.peek({ body: { username: 'ada' } } as Request)
    expect(source).toBe('store')
    expect(parts.find(({ name }) => name === 'consecutive')?.remaining).toBe(left)
  },
)
