import { once } from 'node:events'
import http from 'node:http'
import express, { type Request, type Response } from 'express'
import { type LoginGuard, type LoginGuardOptions, loginGuard } from 'headgate'
import supertest from 'supertest'
import { serve } from '../../support/http.js'

type Options = Partial<LoginGuardOptions<Request, Response>>

/**
 * Whether an attempt that is answered like this counts as a success: a success leaves no trace, a failure
 * does.
 */
export async function isSuccess(
  answer: (res: Response, guard: LoginGuard) => void,
  options: Options = {},
): Promise<boolean> {
  const guard = loginGuard({ field: 'username', ...options })
  guard.limiter.events.on('refundFailed', () => undefined)
  const app = express()
  app.post('/login', express.urlencoded(), guard, (_req, res) => answer(res, guard))
  await supertest(app).post('/login').type('form').send({ username: 'ada' })
  return (await attemptsLeft(guard)) === 10
}

/** What is left of a limit for the account. */
export async function attemptsLeft(guard: LoginGuard, limit = 'account'): Promise<number | undefined> {
  const { parts } = await guard.limiter.peek({ body: { username: 'ada' } } as Request)
  return parts.find(({ name }) => name === limit)?.remaining
}

export function redirect(to: string, status = 302): (res: Response) => void {
  return (res) => res.redirect(status, to)
}

/** Sends an attempt whose client hangs up while the handler runs, and which is never answered. */
export async function hangUp(
  guard: LoginGuard,
  { before, after }: { before?(req: Request): void; after?(req: Request): void } = {},
): Promise<void> {
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  await new Promise<void>((resolve, reject) => {
    const app = express().post('/login', express.urlencoded(), guard, async (req, res) => {
      before?.(req)
      const gone = once(res, 'close')
      client.destroy()
      await gone
      after?.(req)
      resolve()
    })
    let client: http.ClientRequest
    serve(app).then(({ port }) => {
      client = http.request({ host: '127.0.0.1', port, method: 'POST', path: '/login', headers: form })
      client.on('error', () => undefined).end('username=ada')
    }, reject)
  })
}
