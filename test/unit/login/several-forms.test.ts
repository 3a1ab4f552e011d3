import express, { type Request, type RequestHandler, type Response } from 'express'
import { type LoginGuardOptions, loginGuard, memoryStore, rateLimit } from 'headgate'
import supertest from 'supertest'
import { recordWarnings } from '../../support/warnings.js'

const warnings = recordWarnings()

type Options = Partial<LoginGuardOptions<Request, Response>>

/** OAuth's token endpoint: passwords and refresh tokens come by one route. */
function tokenEndpoint(options: Options) {
  const guard = loginGuard<Request, Response>({ field: 'username', store: memoryStore(), ...options })
  const grant: RequestHandler = ({ body }, res) => {
    const isRight =
      body.grant_type === 'password' ? body.password === 'right' : body.refresh_token === 'valid'
    res.status(isRight ? 200 : 401).end()
  }
  const app = express().post('/token', express.urlencoded(), guard, grant)
  return async (form: Record<string, string>) =>
    (await supertest(app).post('/token').type('form').send(form)).status
}

const isRefresh = (req: Request) => req.body?.grant_type !== 'password'
const refresh = { grant_type: 'refresh_token', refresh_token: 'valid' }
const password = { grant_type: 'password', username: 'ada', password: 'wrong' }

test('without skip, a form without the field gets 400', async () => {
  expect(await tokenEndpoint({})(refresh)).toBe(400)
})

test('skip exempts the other forms of a route: they pass, count nothing and clear nothing', async () => {
  const send = tokenEndpoint({ skip: isRefresh })
  for (let i = 0; i < 60; i++) expect(await send(refresh)).toBe(200)
  const statuses: number[] = []
  for (let i = 0; i < 7; i++) {
    statuses.push(await send(password))
    await send({ ...refresh, username: 'ada', password: 'wrong' })
  }
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429])
  expect(warnings()).toEqual([])
})

/** The check of a one-time code, whose route also sends the code again. Returns how many of 60 guesses it sees. */
async function guessCodes(options: Options, status = 200): Promise<number> {
  const guard = loginGuard<Request, Response>({
    account: () => 'the pending user',
    store: memoryStore(),
    ...options,
  })
  const resends = rateLimit({
    limit: 1000,
    window: '1h',
    skip: (req: Request) => req.body?.resend === undefined,
  })
  let seen = 0
  const app = express().post('/code', express.json(), resends, guard, ({ body }, res) => {
    if (body.resend !== undefined) return void res.status(status).end()
    seen++
    res.sendStatus(401)
  })
  for (let i = 0; i < 60; i++) {
    await supertest(app)
      .post('/code')
      .send({ code: `${i}` })
    if (i % 4 === 3)
      await supertest(app)
        .post('/code')
        .send({ resend: true, code: `${i}` })
  }
  return seen
}

test('a resend in the route that checks codes clears no failures if skip exempts it', async () => {
  expect(await guessCodes({ skip: (req) => req.body?.resend !== undefined })).toBe(5)
})

test('nor does it with status 202', async () => {
  expect(await guessCodes({}, 202)).toBe(5)
})

test('otherwise resends clear 30 failures an hour and no more, and a warning says so', async () => {
  expect(await guessCodes({})).toBe(37)
  expect(warnings()).toEqual(['HEADGATE_LOGIN_SUCCESSES'])
})
