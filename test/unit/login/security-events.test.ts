import type { Request, Response } from 'express'
import { adjustments, fixedWindow, type LoginGuardOptions, slidingWindow } from 'headgate'
import { accountIdOf, guardedLogin, RIGHT } from './guarded-login.js'

const ADA = accountIdOf('ada')

/** Creates a login that records the names of its security events. */
function listening(options: Partial<LoginGuardOptions<Request, Response>> = {}, handlerMs = 0) {
  const login = guardedLogin(options, handlerMs)
  const events: string[] = []
  login.guard.events.on('security', ({ event }) => events.push(event))
  return { ...login, events }
}

test('a failure that reaches a limit is logged, and refusals are not', async () => {
  const { attempt, events } = listening()
  for (let i = 0; i < 30; i++) await attempt('ada', 'wrong')
  expect(events).toEqual([`authn_login_fail_max:${ADA},5`])
  for (let i = 0; i < 30; i++) await attempt('ada', 'wrong', `198.51.100.${i}`)
  expect(events).toEqual([`authn_login_fail_max:${ADA},5`, `authn_login_fail_max:${ADA},10`])
})

test('a limit is logged again when guesses take the unit that its window has returned', async () => {
  const account = slidingWindow({ limit: 10, window: '30m' })
  const { attempt, events, advance } = listening({ limits: { account }, consecutive: false })
  for (let minute = 0; minute < 20; minute++) {
    await attempt('ada', 'wrong', `198.51.${minute}.1`)
    advance(60_000)
  }
  expect(events).toEqual([`authn_login_fail_max:${ADA},10`])
  for (let minute = 20; minute < 40; minute++) {
    await attempt('ada', 'wrong', `198.51.${minute}.1`)
    advance(60_000)
  }
  expect(events.length).toBeGreaterThan(1)
  expect(new Set(events).size).toBe(1)
})

test('failures are logged anew after a success', async () => {
  const { attempt, events, guard } = listening()
  for (let i = 0; i < 5; i++) await attempt('ada', 'wrong')
  await adjustments(guard.limiter).forget({ body: { username: 'ada' }, ip: '203.0.113.5' })
  expect((await attempt('ada', RIGHT)).status).toBe(200)
  for (let i = 0; i < 5; i++) await attempt('ada', 'wrong')
  expect(events).toEqual([`authn_login_fail_max:${ADA},5`, `authn_login_fail_max:${ADA},5`])
})

test('a success after failures is logged with their number, and one without is not logged', async () => {
  const { attempt, events } = listening()
  await attempt('ada', RIGHT)
  for (let i = 0; i < 3; i++) await attempt('ada', 'wrong')
  await attempt('ada', RIGHT)
  await attempt('ada', RIGHT)
  expect(events).toEqual([`authn_login_successafterfail:${ADA},3`])
})

test('a success after failures is logged where no failures in a row are counted', async () => {
  const { attempt, events } = listening({ consecutive: false })
  for (let i = 0; i < 3; i++) await attempt('ada', 'wrong')
  await attempt('ada', RIGHT)
  expect(events).toEqual([`authn_login_successafterfail:${ADA},3`])
})

test('a lock and an address that fails too often are logged once', async () => {
  const address = fixedWindow({ limit: 4, window: '1d' })
  const { attempt, events } = listening({ consecutive: 2, limits: { address } })
  for (const name of ['ada', 'ada', 'ada', 'eve', 'eve', 'mallory'])
    await attempt(name, 'wrong', '2001:db8::7')
  expect(events).toEqual([
    `authn_login_lock:${ADA},maxretries`,
    'excess_rate_limit_exceeded:2001:db8::/56,4',
    `authn_login_lock:${accountIdOf('eve')},maxretries`,
  ])
})

test('a success with the last unit of a limit is not logged as exhausting it', async () => {
  const { attempt, events } = listening()
  for (let i = 0; i < 4; i++) await attempt('ada', 'wrong')
  await attempt('ada', RIGHT)
  expect(events).toEqual([`authn_login_successafterfail:${ADA},4`])
})

test('an event holds no password, and the name only as a hash', async () => {
  const login = guardedLogin({ secret: 'sixteen characters or more', consecutive: 1 })
  const entries: unknown[] = []
  login.guard.events.on('security', (event, req) => entries.push({ ...event, path: req.path }))
  await login.attempt('ada@example.com', 'hunter2')
  expect(entries).toEqual([
    {
      datetime: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      appid: 'login',
      event: expect.stringMatching(/^authn_login_lock:[\w-]{22},maxretries$/),
      level: 'WARN',
      description: expect.stringMatching(/^User [\w-]{22} login locked because maxretries exceeded$/),
      source_ip: '203.0.113.5',
      path: '/login',
    },
  ])
  expect(JSON.stringify(entries)).not.toMatch(/ada|example|hunter2/)
})

test('a name with separators ends neither its field nor its line', async () => {
  const account = (req: Request) => req.body.username
  const { attempt, events } = listening({ consecutive: 1, account })
  const name = 'ada,maxretries\u2028authn_login_success:root@example.com'
  await attempt(name, 'wrong')
  expect(events).toEqual([`authn_login_lock:${accountIdOf(name)},maxretries`])
  expect(events[0]).toMatch(/^authn_login_lock:[\w-]{22},maxretries$/)
})

test('a listener reads the name of the account from the request', async () => {
  const login = guardedLogin({ consecutive: 1 })
  const names: unknown[] = []
  login.guard.events.on('security', (_event, req) => names.push((req as Request).body.username))
  await login.attempt('Ada ', 'wrong')
  expect(names).toEqual(['Ada '])
})

test('attempts without a name are refused, and lock nobody', async () => {
  const account = () => null
  const { attempt, events } = listening({ consecutive: 2, account, onLockout: () => events.push('locked') })
  for (let i = 0; i < 7; i++) expect((await attempt('ada', 'wrong')).status).toBe(400)
  expect(events).toEqual([])
})

test('in report mode, attempts without a name are counted by their address, and lock nobody', async () => {
  const account = () => null
  const { attempt, events } = listening({ mode: 'report', consecutive: 2, account })
  for (let i = 0; i < 7; i++) expect((await attempt('ada', 'wrong')).status).toBe(401)
  expect(events).toEqual(['authn_login_fail_max:unknown,5'])
})

test('concurrent correct logins are not counted as failures of each other', async () => {
  const { attempt, events } = listening({}, 50)
  await Promise.all(Array.from({ length: 4 }, () => attempt('ada', RIGHT)))
  expect(events).toEqual([])
  await attempt('ada', 'wrong')
  await Promise.all([attempt('ada', RIGHT), attempt('ada', RIGHT)])
  expect(events[0]).toBe(`authn_login_successafterfail:${ADA},1`)
})

test('a listener that throws does not change the response', async () => {
  jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  const login = guardedLogin({ consecutive: 1 })
  login.guard.events.on('security', () => {
    throw new Error('log is full')
  })
  expect((await login.attempt('ada', 'wrong')).status).toBe(401)
  jest.restoreAllMocks()
})
