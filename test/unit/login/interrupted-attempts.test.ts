import http, { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import express, { type Request, type Response } from 'express'
import { type LoginGuard, type LoginGuardOptions, loginGuard, memoryStore, type Store } from 'headgate'
import { customStore } from 'headgate/store'
import supertest from 'supertest'
import { closeServers, serve } from '../../support/http.js'
import { until } from '../../support/servers/wait.js'
import { attemptsLeft, hangUp } from './attempt-outcome.js'
import { accountIdOf } from './guarded-login.js'

afterEach(closeServers)

const ADA = accountIdOf('ada')

/** A guard whose security events are kept. */
function listening(options: Partial<LoginGuardOptions<Request, Response>> = {}) {
  const guard = loginGuard({ field: 'username', ...options })
  const events: string[] = []
  guard.events.on('security', ({ event }) => events.push(event))
  return { guard, events }
}

async function answer(guard: LoginGuard, status: number): Promise<void> {
  const app = express().post('/login', express.json(), guard, (_req, res) => void res.sendStatus(status))
  expect((await supertest(app).post('/login').send({ username: 'ada' })).status).toBe(status)
}

/** A correct store that lets each charge or refund wait until it is released. */
function pausedStore(): Store & { readonly isPaused: { charge: boolean; refund: boolean }; release(): void } {
  const memory = memoryStore()
  const isPaused = { charge: false, refund: false }
  let waiting: (() => void)[] = []
  return customStore({
    name: 'paused',
    isPaused,
    release() {
      for (const resolve of waiting) resolve()
      waiting = []
    },
    async apply(operations) {
      for (const { type } of operations)
        if ((type === 'charge' || type === 'refund') && isPaused[type])
          await new Promise<void>((resolve) => waiting.push(resolve))
      return memory.apply(operations)
    },
  })
}

test('an attempt whose client hangs up is a failure, and a lock that it makes is logged', async () => {
  const { guard, events } = listening({ consecutive: 1 })
  await hangUp(guard)
  expect(events).toEqual([`authn_login_lock:${ADA},maxretries`])
  expect(await attemptsLeft(guard)).toBe(9)
})

test('an attempt whose client hangs up is no longer one in progress', async () => {
  const { guard, events } = listening()
  await hangUp(guard)
  await answer(guard, 200)
  expect(events).toEqual([`authn_login_successafterfail:${ADA},1`])
})

/** Sends an attempt whose connection is closed while the store decides, and which is never answered. */
async function closeWhileDeciding(guard: LoginGuard, store: ReturnType<typeof pausedStore>): Promise<void> {
  store.isPaused.charge = true
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  await new Promise<void>((resolve, reject) => {
    const app = express().post('/login', express.urlencoded(), (_req, res, next) => {
      next()
      res.once('close', () => {
        store.isPaused.charge = false
        store.release()
      })
      client.destroy()
    })
    app.use(guard, () => resolve())
    let client: http.ClientRequest
    serve(app).then(({ port }) => {
      client = http.request({ host: '127.0.0.1', port, method: 'POST', path: '/login', headers })
      client.on('error', () => undefined).end('username=ada')
    }, reject)
  })
}

test('an attempt whose connection closes before the store answers is a failure, and a lock that it makes is logged', async () => {
  const store = pausedStore()
  const { guard, events } = listening({
    path: '/login',
    consecutive: 1,
    store,
    name: 'login',
    timeout: 10_000,
  })
  await closeWhileDeciding(guard, store)
  await until('the lock is reported', () => events.length > 0)
  expect(events).toEqual([`authn_login_lock:${ADA},maxretries`])
  expect(await attemptsLeft(guard)).toBe(9)
})

test('an attempt whose connection closes before the store answers is no longer one in progress', async () => {
  const store = pausedStore()
  const { guard, events } = listening({ path: '/login', store, name: 'login', timeout: 10_000 })
  await closeWhileDeciding(guard, store)
  await answer(guard, 200)
  expect(events).toEqual([`authn_login_successafterfail:${ADA},1`])
})

test('a failure during the refund of a success stays counted', async () => {
  const store = pausedStore()
  const { guard } = listening({ store, name: 'login', timeout: 10_000 })
  store.isPaused.refund = true
  await answer(guard, 401)
  await answer(guard, 200)
  await answer(guard, 401)
  store.isPaused.refund = false
  store.release()
  await guard.limiter.close() // the refund has ended
  expect([await attemptsLeft(guard), await attemptsLeft(guard, 'consecutive')]).toEqual([9, 99])
  const address = await guard.limiter.peek({ ip: '127.0.0.1' } as unknown as Request)
  expect(address.parts[0]).toMatchObject({ name: 'address', remaining: 48 })
})

test('in report mode a request that disconnected before its address was read passes', () => {
  const guard = loginGuard({ field: 'username', mode: 'report', allow: ['192.0.2.1'] })
  const req = Object.assign(new IncomingMessage(new Socket()), { method: 'POST', body: { username: 'ada' } })
  req.socket.destroy()
  const next = jest.fn()
  guard(req, new ServerResponse(req), next)
  expect(next.mock.calls).toEqual([[]])
})
