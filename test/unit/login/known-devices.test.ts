import type { Request } from 'express'
import { fixedWindow } from 'headgate'
import { cookieOf, loginBehind } from './kit.js'

const RIGHT = 'analytical engine'
const HOME = '192.0.2.1'
const secret = 'sixteen characters or more'

/** A login whose windows end before the next attempt, so that only failures in a row are limited, by six. */
function loginInARow(options: Parameters<typeof loginBehind>[0] = {}) {
  const told: string[] = []
  const wide = fixedWindow({ limit: 1000, window: '1s' })
  const login = loginBehind({
    name: 'login',
    deviceCookie: { secret },
    accountInEvents: 'clear',
    consecutive: 6,
    limits: { address: wide, account: wide, accountAndAddress: wide },
    onLockout: (account) => told.push(account),
    ...options,
  })
  login.guard.events.on('security', ({ event }) => told.push(event))

  async function fail(count: number, cookies: readonly (string | undefined)[]): Promise<number[]> {
    const statuses: number[] = []
    for (let i = 0; i < count; i++) {
      statuses.push((await login.attempt('ada', 'wrong', HOME, cookies[i % cookies.length])).status)
    }
    return statuses
  }
  const newDevice = async () => cookieOf(await login.attempt('ada', RIGHT, HOME))
  return { ...login, told, fail, newDevice }
}

const failed = (times: number) => new Array<number>(times).fill(401)
const refused = (times: number) => new Array<number>(times).fill(429)
const ada = { body: { username: 'ada' } }
const LOCKED = ['authn_login_lock:ada,maxretries', 'ada']

test('all known devices of an account together fail as often in a row as one', async () => {
  const { newDevice, fail, attempt, told } = loginInARow()
  const cookies: string[] = []
  for (let i = 0; i < 20; i++) cookies.push(await newDevice())
  expect(new Set(cookies.map((cookie) => cookie.split(/[=.]/)[1])).size).toBe(20)
  expect(await fail(40, cookies)).toEqual([...failed(6), ...refused(34)])
  expect(told).toEqual(LOCKED)
  expect((await attempt('ada', RIGHT, HOME)).status).toBe(200) // strangers have a row of their own
})

test('a success of one known device clears the row of all of them, and not that of strangers', async () => {
  const { newDevice, fail, attempt, told } = loginInARow()
  const [one, other] = [await newDevice(), await newDevice()]
  expect(await fail(5, [undefined])).toEqual(failed(5))
  expect(await fail(5, [one])).toEqual(failed(5))
  expect((await attempt('ada', RIGHT, HOME, other)).status).toBe(200)
  expect(await fail(7, [one, other])).toEqual([...failed(6), 429])
  expect(await fail(2, [undefined])).toEqual([401, 429])
  expect(told).toEqual(['authn_login_successafterfail:ada,5', ...LOCKED, ...LOCKED])
})

test('support releases both rows by the name alone, and each lock is reported anew', async () => {
  const { newDevice, fail, told, guard } = loginInARow()
  const cookie = await newDevice()
  const lockBoth = async () => {
    expect(await fail(7, [undefined])).toEqual([...failed(6), 429])
    expect(await fail(7, [cookie])).toEqual([...failed(6), 429])
  }
  await lockBoth()
  expect(told).toEqual([...LOCKED, ...LOCKED])
  await guard.limiter.forget(ada)
  await lockBoth()
  expect(told).toEqual([...LOCKED, ...LOCKED, ...LOCKED, ...LOCKED])
  await guard.limiter.forget(ada, { limits: ['consecutive'] })
  await lockBoth()
  expect(told).toHaveLength(12)
  await guard.limiter.forget(ada, { limits: ['account'] })
  expect([await fail(1, [undefined]), await fail(1, [cookie])]).toEqual([[429], [429]])
})

test('also where the name is read by a function, with a secret for keys, and another prefix', async () => {
  const { newDevice, fail, guard } = loginInARow({
    account: async (req: Request) => req.body.username,
    secret: 'another of sixteen characters',
    prefix: 'other',
  })
  const cookie = await newDevice()
  for (let i = 0; i < 2; i++) {
    expect(await fail(7, [undefined])).toEqual([...failed(6), 429])
    expect(await fail(7, [cookie])).toEqual([...failed(6), 429])
    await guard.limiter.forget(ada)
  }
})

test('a request of a known device releases strangers, too', async () => {
  const { newDevice, fail, guard } = loginInARow()
  const cookie = await newDevice()
  expect(await fail(7, [undefined])).toEqual([...failed(6), 429])
  await guard.limiter.forget({ ...ada, headers: { cookie } })
  expect(await fail(1, [undefined])).toEqual([401])
})

test('a decision releases only what was charged for it', async () => {
  const { newDevice, fail, guard } = loginInARow()
  const cookie = await newDevice()
  expect(await fail(7, [undefined])).toEqual([...failed(6), 429])
  expect(await fail(7, [cookie])).toEqual([...failed(6), 429])
  const decision = await guard.limiter.charge({ ...ada, headers: { cookie }, ip: HOME } as Request)
  await guard.limiter.forget(decision)
  expect([await fail(1, [cookie]), await fail(1, [undefined])]).toEqual([[401], [429]])
})

test('without failures in a row there is nothing of known devices to release', async () => {
  const account = fixedWindow({ limit: 3, window: '1d' })
  const { fail, guard } = loginInARow({
    consecutive: false,
    limits: { account },
    deviceCookie: { secret, epoch: () => 1 },
  })
  expect(await fail(4, [undefined])).toEqual([...failed(3), 429])
  await guard.limiter.forget(ada)
  expect(await fail(1, [undefined])).toEqual([401])
})
