import { setTimeout as pause } from 'node:timers/promises'
import express, { type Request, type Response } from 'express'
import { type LoginGuard, type LoginGuardOptions, loginGuard, memoryStore } from 'headgate'
import supertest from 'supertest'

/** A moment at which no window of the default limits begins or ends soon. */
export const NOON_MS = Date.UTC(2026, 0, 5, 12, 0, 30)

export const PASSWORDS: Readonly<Record<string, string>> = { ada: 'analytical engine', grace: 'nanoseconds' }

export interface Login {
  readonly guard: LoginGuard<Request, Response>
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

/** A login form in Express behind a guard on a clock that is set, asked over HTTP. One proxy in front tells the address. Its handler may take a while. */
export function loginBehind(options: Options = {}, handlerMs = 0): Login {
  let nowMs = NOON_MS
  const store = memoryStore({ clock: () => nowMs })
  const from = options.account === undefined ? { field: 'username' } : {}
  const guard = loginGuard<Request, Response>({ ...from, store, ...options })
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
      const asking = supertest(app).post('/login').set('X-Forwarded-For', ip)
      asking.set(headers)
      if (cookie !== undefined) asking.set('Cookie', cookie)
      return asking.send({ username, password }).then((response) => response)
    },
  }
}

/** The cookie that a browser sends after this response. */
export function cookieOf(response: supertest.Response): string {
  const [cookie = ''] = (response.headers['set-cookie'] as unknown as string[] | undefined) ?? []
  return cookie.split(';', 1)[0] as string
}
