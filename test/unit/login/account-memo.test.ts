import express, { type Request } from 'express'
import { adjustments, type LoginGuard, loginGuard } from 'headgate'
import supertest from 'supertest'

type Guard = LoginGuard

const newGuard = (account: (req: Request) => unknown): Guard => loginGuard({ account })
const named = (username: string) => ({ body: { username } })

/** How an account function may read the name. */
const KINDS: readonly (readonly [string, (req: Request) => unknown])[] = [
  ['a synchronous', (req) => req.body.username],
  [
    'an async',
    async (req) => {
      const { username } = req.body
      await null
      return username
    },
  ],
]

async function failuresOf(guard: Guard, username: string): Promise<number | undefined> {
  const { parts } = await guard.limiter.peek(named(username) as Request)
  return 100 - (parts.find(({ name }) => name === 'consecutive')?.remaining ?? Number.NaN)
}

describe.each(KINDS)('with %s account function', (_kind, read) => {
  test('accountId reads a subject anew on each call', async () => {
    const guard = newGuard(read)
    const subject = named('ada')
    const first = await guard.accountId(subject)
    subject.body.username = 'grace'
    const second = await guard.accountId(subject)
    expect([first, second]).toEqual([
      await guard.accountId(named('ada')),
      await guard.accountId(named('grace')),
    ])
    expect(first).not.toBe(second)
  })

  test('forget forgets the account that a subject names when it is called', async () => {
    const guard = newGuard(read)
    const names = ['ada', 'grace', 'mary']
    for (const name of names) await guard.limiter.charge(named(name) as Request)
    const subject = named('')
    const forgotten: unknown[] = []
    for (const name of names.slice(0, 2)) {
      subject.body.username = name
      forgotten.push(adjustments(guard.limiter).forget(subject))
    }
    subject.body.username = 'mary'
    await Promise.all(forgotten)
    expect([await failuresOf(guard, 'ada'), await failuresOf(guard, 'grace')]).toEqual([0, 0])
    expect(await failuresOf(guard, 'mary')).toBe(1)
  })

  test('an attempt keeps the account that was charged, whatever its handler makes of the body', async () => {
    const guard = newGuard(read)
    let id: unknown
    const app = express().post('/login', express.json(), guard, async (req, res) => {
      req.body.username = 'grace'
      id = await guard.accountId(req)
      if (req.body.forgets) await adjustments(guard.limiter).forget(req)
      res.sendStatus(401)
    })
    const attempt = (body: object) => supertest(app).post('/login').send(body)
    await guard.limiter.charge(named('grace') as Request)
    await attempt({ username: 'ada' })
    expect(id).toBe(await guard.accountId(named('ada')))
    expect([await failuresOf(guard, 'ada'), await failuresOf(guard, 'grace')]).toEqual([1, 1])
    await attempt({ username: 'ada', forgets: true })
    expect([await failuresOf(guard, 'ada'), await failuresOf(guard, 'grace')]).toEqual([0, 1])
  })
})

test('an attempt that was charged without an account has none later', async () => {
  const guard = newGuard((req) => req.body.username)
  let id: unknown = 'not read'
  const app = express().post('/login', express.json(), guard, async (req, res) => {
    req.body.username = 'ada'
    id = await guard.accountId(req)
    res.sendStatus(401)
  })
  await supertest(app).post('/login').send({})
  expect(id).toBeUndefined()
})

test('a skipped request is no attempt, so its account is read anew', async () => {
  const guard = loginGuard({ account: (req) => req.body?.username, skip: () => true })
  const ids: unknown[] = []
  const app = express().post('/login', express.json(), guard, async (req, res) => {
    for (const name of ['ada', 'grace']) {
      req.body.username = name
      ids.push(await guard.accountId(req))
    }
    res.sendStatus(401)
  })
  await supertest(app).post('/login').send({})
  expect(ids).toEqual([await guard.accountId(named('ada')), await guard.accountId(named('grace'))])
})

test('one forget calls the account function once, with the subject itself', async () => {
  const subjects: unknown[] = []
  const guard = newGuard(async (req) => {
    subjects.push(req)
    return req.body.username
  })
  const subject = { ...named('ada'), ip: '203.0.113.5' }
  await guard.limiter.charge(subject as unknown as Request)
  subjects.length = 0
  await adjustments(guard.limiter).forget(subject)
  expect(subjects).toHaveLength(1)
  expect(subjects[0]).toBe(subject)
  const { parts } = await guard.limiter.peek(subject as unknown as Request)
  expect(parts.map(({ limit, remaining }) => limit - remaining)).toEqual([0, 0, 0, 0])
})

test('forget reads a subject whose getters use private members', async () => {
  class Subject {
    readonly #name = 'ada'
    get ip(): string {
      return `203.0.113.${this.#name.length}`
    }
    get body(): { username: string } {
      return { username: this.#name }
    }
  }
  const guard = newGuard((req) => req.body.username)
  await guard.limiter.charge(new Subject() as unknown as Request)
  await adjustments(guard.limiter).forget(new Subject() as unknown as Request)
  expect(await failuresOf(guard, 'ada')).toBe(0)
})
