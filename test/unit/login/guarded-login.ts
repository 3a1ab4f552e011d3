import { setTimeout as pause } from 'node:timers/promises'
import express, { type Request, type Response } from 'express'
import { type LoginGuard, type LoginGuardOptions, loginGuard, memoryStore } from 'headgate'
import supertest from 'supertest'

/** A moment at which no window of the default limits begins or ends soon. */
export const NOON_MS = Date.UTC(2026, 0, 5, 12, 0, 30)

/** The right password of ada. */
export const RIGHT = 'analytical engine'
/** An address of the user's own. */
export const HOME = '192.0.2.1'
/** A secret for device cookies. */
export const secret = 'sixteen characters or more'

export const PASSWORDS: Readonly<Record<string, string>> = { ada: RIGHT, grace: 'nanoseconds' }

export interface Login {
  readonly guard: LoginGuard
  /** Attempts that reached the handler, by the name that it was given. */
  readonly reached: unknown[]
  /** Lets time pass, for the limits; the cookies' time is the real one. */
  advance(ms: number): void
  attempt(
    username: unknown,
    password: string,
    from?: string,
    cookie?: string,
    headers?: Record<string, string>,
  ): Promise<supertest.Response>
}

type Options = Partial<LoginGuardOptions<Request, Response>>

/**
 * Creates a login form in Express behind a guard, with a manual clock. A trusted proxy sends the address.
 * The handler takes `handlerMs`.
 */
export function guardedLogin(options: Options = {}, handlerMs = 0): Login {
  let nowMs = NOON_MS
  const store = memoryStore({ clock: () => nowMs })
  const from = options.account === undefined ? { field: 'username' } : {}
  const guard = loginGuard({ ...from, store, ...options })
  const reached: unknown[] = []
  const app = express().set('trust proxy', 1)
  app.post('/login', express.urlencoded({ extended: true }), express.json(), guard, async (req, res) => {
    if (handlerMs > 0) await pause(handlerMs)
    const { username, password } = (req.body ?? {}) as Record<string, unknown>
    reached.push(username)
    const isRight = typeof username === 'string' && PASSWORDS[username.trim().toLowerCase()] === password
    res.status(isRight ? 200 : 401).send(isRight ? 'Welcome' : 'Wrong name or password')
  })
  return {
    guard,
    reached,
    advance: (ms) => {
      nowMs += ms
    },
    attempt(username, password, ip = '203.0.113.5', cookie, headers = {}) {
      const request = supertest(app).post('/login').set('X-Forwarded-For', ip)
      request.set(headers)
      if (cookie !== undefined) request.set('Cookie', cookie)
      return request.send({ username, password }).then((response) => response)
    },
  }
}

/** Returns how the events of a guard without a secret name an account. */
export function accountIdOf(username: string): string {
  return String(loginGuard({ field: 'username' }).accountId({ body: { username } }))
}

/** The cookie that a browser sends after this response. */
export function cookieOf(response: supertest.Response): string {
  const [cookie = ''] = (response.headers['set-cookie'] as unknown as string[] | undefined) ?? []
  return cookie.split(';', 1)[0] as string
}
