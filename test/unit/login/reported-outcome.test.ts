import { ServerResponse } from 'node:http'
import express, { type Request, type Response } from 'express'
import { type LoginGuard, type LoginGuardOptions, loginGuard } from 'headgate'
import supertest from 'supertest'
import { closeServers } from '../../support/http.js'
import { attemptsLeft, hangUp, isSuccess } from './attempt-outcome.js'

type Guard = LoginGuard
type Outcome = 'success' | 'failure'

function report(guard: Guard, outcome: Outcome, req: Request): void {
  if (outcome === 'success') guard.reportSuccess(req)
  else guard.reportFailure(req)
}

const newGuard = (options: Partial<LoginGuardOptions<Request, Response>> = {}): Guard =>
  loginGuard({ field: 'username', ...options })

/** Sends one attempt through some handlers behind a body parser. */
async function attempt(...handlers: express.RequestHandler[]): Promise<number> {
  const app = express().post('/login', express.urlencoded(), ...handlers)
  app.use((error: Error, _req: Request, res: Response, _next: unknown) => {
    res.status(599).send(error.message)
  })
  return (await supertest(app).post('/login').type('form').send({ username: 'ada' })).status
}

afterEach(closeServers)

describe.each<[Outcome, boolean]>([
  ['success', true],
  ['failure', false],
])('a reported %s', (outcome, expected) => {
  test.each([200, 204, 302, 401, 429, 500, 503])('takes precedence over status %d', async (status) => {
    const answer = (res: Response, guard: Guard) => {
      report(guard, outcome, res.req)
      res.status(status).end()
    }
    expect(await isSuccess(answer)).toBe(expected)
  })

  test('takes precedence over succeeded, failureRedirect and the default', async () => {
    const answer = (res: Response, guard: Guard) => {
      report(guard, outcome, res.req)
      res.redirect('/home')
    }
    for (const opposite of [true, false])
      expect(await isSuccess(answer, { succeeded: () => opposite })).toBe(expected)
    for (const failureRedirect of ['/home', false] as const)
      expect(await isSuccess(answer, { failureRedirect })).toBe(expected)
    expect(await isSuccess(answer)).toBe(expected)
  })

  test('replaces the previous report', async () => {
    const answer = (res: Response, guard: Guard) => {
      report(guard, outcome === 'success' ? 'failure' : 'success', res.req)
      report(guard, outcome, res.req)
      res.end()
    }
    expect(await isSuccess(answer)).toBe(expected)
  })

  test('takes effect even if the connection ends before the answer', async () => {
    const guard = newGuard()
    await hangUp(guard, { before: (req) => report(guard, outcome, req) })
    expect(await attemptsLeft(guard)).toBe(expected ? 10 : 9)
  })

  test('throws once the headers are sent, and changes nothing', async () => {
    for (const [status, left] of [
      [200, 10],
      [401, 9],
    ] as const) {
      const guard = newGuard()
      const thrown: unknown[] = []
      await attempt(guard, (req, res) => {
        res.status(status).end('x')
        try {
          report(guard, outcome, req)
        } catch (error) {
          thrown.push((error as Error).message)
        }
      })
      expect(thrown).toEqual([
        'loginGuard: the response headers were sent before the outcome was reported. Report it before you respond.',
      ])
      expect(await attemptsLeft(guard)).toBe(left)
    }
  })

  test('has no effect once the connection has ended without an answer', async () => {
    const guard = newGuard()
    await hangUp(guard, { after: (req) => report(guard, outcome, req) })
    expect(await attemptsLeft(guard)).toBe(9)
  })

  test('has no effect on requests that the guard skipped, refused, or never saw', async () => {
    const guard = newGuard({ skip: ({ headers }) => headers?.['x-skip'] === '1' })
    const skipped: express.RequestHandler = (req, _res, next) => {
      req.headers['x-skip'] = '1'
      next()
    }
    expect(
      await attempt(skipped, guard, (req, res) => {
        report(guard, outcome, req)
        res.sendStatus(401)
      }),
    ).toBe(401)
    expect(
      await attempt((req, res) => {
        report(guard, outcome, req)
        res.sendStatus(401)
      }),
    ).toBe(401)
    expect(await attemptsLeft(guard)).toBe(10)

    const refusing = newGuard({
      consecutive: 1,
      onDenied(req, res) {
        report(refusing, outcome, req)
        res.sendStatus(429)
      },
    })
    for (const status of [401, 429, 429])
      expect(await attempt(refusing, (_req, res) => void res.sendStatus(401))).toBe(status)
  })

  test('takes effect at only one of two guards that protect a route', async () => {
    const [one, other] = [newGuard(), newGuard()]
    await attempt(one, other, (req, res) => {
      report(one, outcome, req)
      report(other, outcome === 'success' ? 'failure' : 'success', req)
      res.sendStatus(401)
    })
    expect([await attemptsLeft(one), await attemptsLeft(other)]).toEqual(expected ? [10, 9] : [9, 10])
    await attempt(one, other, (req, res) => {
      report(one, outcome, req)
      res.sendStatus(expected ? 401 : 200)
    })
    expect(await attemptsLeft(one)).toBe(expected ? 10 : 8)
    expect(await attemptsLeft(other)).toBe(expected ? 8 : 10)
  })
})

test('a reported failure counts in a row, also where the server failed', async () => {
  for (const [reports, left] of [
    [true, 99],
    [false, 100],
  ] as const) {
    const guard = newGuard()
    await attempt(guard, (req, res) => {
      if (reports) guard.reportFailure(req)
      res.sendStatus(503)
    })
    expect(await attemptsLeft(guard, 'consecutive')).toBe(left)
  }
})

test('a reported success makes the browser a known device, and is reported after failures', async () => {
  const guard = newGuard({ name: 'login', deviceCookie: { secret: 'sixteen characters or more' } })
  const events: string[] = []
  guard.events.on('security', ({ event }) => events.push(event))
  await attempt(guard, (_req, res) => void res.sendStatus(401))
  const app = express().post('/login', express.urlencoded(), guard, (req, res) => {
    guard.reportSuccess(req)
    res.redirect(303, '/home')
  })
  const { headers } = await supertest(app).post('/login').type('form').send({ username: 'ada' })
  expect(headers['set-cookie']).toEqual([expect.stringMatching(/^__Host-headgate-device-[\w-]{8}=/)])
  expect(events).toEqual([expect.stringMatching(/^authn_login_successafterfail:.*,1$/)])
})

test('a reported success takes effect where its headers bypass the guard, and ends its attempt', async () => {
  const events: string[] = []
  const guard = newGuard({ name: 'login', deviceCookie: { secret: 'sixteen characters or more' } })
  guard.events.on('security', ({ event }) => events.push(event.replace(/:.*,/, ':')))
  const failed: unknown[] = []
  guard.limiter.events.on('refundFailed', (error) => failed.push(error))
  const fail: express.RequestHandler = (_req, res) => void res.sendStatus(401)
  const past: express.RequestHandler = (req, res) => {
    guard.reportSuccess(req)
    ServerResponse.prototype.writeHead.call(res, 200)
    res.end()
  }
  await attempt(guard, fail)
  await attempt(guard, past)
  await attempt(guard, fail)
  await attempt(guard, (req, res) => {
    guard.reportSuccess(req)
    res.end()
  })
  expect(failed).toEqual([])
  expect(events).toEqual(['authn_login_successafterfail:1', 'authn_login_successafterfail:1'])
})
