import type { Request } from 'express'
import { adjustments, fixedWindow } from 'headgate'
import { accountIdOf, cookieOf, guardedLogin, HOME, RIGHT, secret } from './guarded-login.js'

/** A login whose windows end before the next attempt, so that only failures in a row are limited, by six. */
function loginInARow(options: Parameters<typeof guardedLogin>[0] = {}) {
  const reports: string[] = []
  const wide = fixedWindow({ limit: 1000, window: '1s' })
  const login = guardedLogin({
    name: 'login',
    deviceCookie: { secret },
    consecutive: 6,
    limits: { address: wide, account: wide, accountAndAddress: wide },
    onLockout: (account) => reports.push(account),
    ...options,
  })
  login.guard.events.on('security', ({ event }) => reports.push(event))

  async function fail(count: number, cookies: readonly (string | undefined)[]): Promise<number[]> {
    const statuses: number[] = []
    for (let i = 0; i < count; i++) {
      statuses.push((await login.attempt('ada', 'wrong', HOME, cookies[i % cookies.length])).status)
    }
    return statuses
  }
  const newDevice = async () => cookieOf(await login.attempt('ada', RIGHT, HOME))
  return { ...login, reports, fail, newDevice }
}

const failed = (times: number) => new Array<number>(times).fill(401)
const refused = (times: number) => new Array<number>(times).fill(429)
const ada = { body: { username: 'ada' } }
const ADA = accountIdOf('ada')
const LOCKED = [`authn_login_lock:${ADA},maxretries`, 'ada']

test('all known devices of an account share one limit of failures in a row', async () => {
  const { newDevice, fail, attempt, reports } = loginInARow()
  const cookies: string[] = []
  for (let i = 0; i < 20; i++) cookies.push(await newDevice())
  expect(new Set(cookies.map((cookie) => cookie.split(/[=.]/)[1])).size).toBe(20)
  expect(await fail(40, cookies)).toEqual([...failed(6), ...refused(34)])
  expect(reports).toEqual(LOCKED)
  expect((await attempt('ada', RIGHT, HOME)).status).toBe(200) // strangers have a row of their own
})

test('a success of one known device clears the row of all of them, and not that of strangers', async () => {
  const { newDevice, fail, attempt, reports } = loginInARow()
  const [one, other] = [await newDevice(), await newDevice()]
  expect(await fail(5, [undefined])).toEqual(failed(5))
  expect(await fail(5, [one])).toEqual(failed(5))
  expect((await attempt('ada', RIGHT, HOME, other)).status).toBe(200)
  expect(await fail(7, [one, other])).toEqual([...failed(6), 429])
  expect(await fail(2, [undefined])).toEqual([401, 429])
  expect(reports).toEqual([`authn_login_successafterfail:${ADA},5`, ...LOCKED, ...LOCKED])
})

test('forget releases both rows by the name alone, and each new lock is reported', async () => {
  const { newDevice, fail, reports, guard } = loginInARow()
  const cookie = await newDevice()
  const lockBoth = async () => {
    expect(await fail(7, [undefined])).toEqual([...failed(6), 429])
    expect(await fail(7, [cookie])).toEqual([...failed(6), 429])
  }
  await lockBoth()
  expect(reports).toEqual([...LOCKED, ...LOCKED])
  await adjustments(guard.limiter).forget(ada)
  await lockBoth()
  expect(reports).toEqual([...LOCKED, ...LOCKED, ...LOCKED, ...LOCKED])
  await adjustments(guard.limiter).forget(ada, { limits: ['consecutive'] })
  await lockBoth()
  expect(reports).toHaveLength(12)
  await adjustments(guard.limiter).forget(ada, { limits: ['account'] })
  expect([await fail(1, [undefined]), await fail(1, [cookie])]).toEqual([[429], [429]])
})

test('forget releases both rows where a function reads the name, with a secret and another prefix', async () => {
  const { newDevice, fail, guard } = loginInARow({
    account: async (req: Request) => req.body.username,
    secret: 'another of sixteen characters',
    prefix: 'other',
  })
  const cookie = await newDevice()
  for (let i = 0; i < 2; i++) {
    expect(await fail(7, [undefined])).toEqual([...failed(6), 429])
    expect(await fail(7, [cookie])).toEqual([...failed(6), 429])
    await adjustments(guard.limiter).forget(ada)
  }
})

test('forget with a request of a known device releases strangers, too', async () => {
  const { newDevice, fail, guard } = loginInARow()
  const cookie = await newDevice()
  expect(await fail(7, [undefined])).toEqual([...failed(6), 429])
  await adjustments(guard.limiter).forget({ ...ada, headers: { cookie } })
  expect(await fail(1, [undefined])).toEqual([401])
})

test('forget with a decision releases only the keys that were charged', async () => {
  const { newDevice, fail, guard } = loginInARow()
  const cookie = await newDevice()
  expect(await fail(7, [undefined])).toEqual([...failed(6), 429])
  expect(await fail(7, [cookie])).toEqual([...failed(6), 429])
  const decision = await guard.limiter.charge({ ...ada, headers: { cookie }, ip: HOME } as Request)
  await adjustments(guard.limiter).forget(decision)
  expect([await fail(1, [cookie]), await fail(1, [undefined])]).toEqual([[401], [429]])
})

test('forget releases strangers where no failures in a row are counted', async () => {
  const account = fixedWindow({ limit: 3, window: '1d' })
  const { fail, guard } = loginInARow({
    consecutive: false,
    limits: { account },
    deviceCookie: { secret, epoch: () => 1 },
  })
  expect(await fail(4, [undefined])).toEqual([...failed(3), 429])
  await adjustments(guard.limiter).forget(ada)
  expect(await fail(1, [undefined])).toEqual([401])
})
