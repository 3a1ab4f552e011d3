import type { Request } from 'express'
import { adjustments, fixedWindow } from 'headgate'
import type { DeviceEpoch } from '../../../src/login/device-options.js'
import { cookieOf, guardedLogin, HOME, RIGHT, secret } from './guarded-login.js'

type Epoch = (account: string, req: Request) => DeviceEpoch | Promise<DeviceEpoch>

/** A login with an epoch, at which strangers have no guesses left after one. */
function loginWith(epoch: Epoch) {
  const account = fixedWindow({ limit: 1, window: '1d' })
  const login = guardedLogin({ name: 'login', deviceCookie: { secret, epoch }, limits: { account } })
  const statusOf = async (cookie?: string) => (await login.attempt('ada', RIGHT, HOME, cookie)).status
  return { ...login, statusOf }
}

const DAY = new Date('2026-01-05')

describe.each<[string, DeviceEpoch, DeviceEpoch]>([
  ['a string', 'first', 'second'],
  ['a number', 1, 2],
  ['a bigint', 1n, 2n],
  ['a date', DAY, new Date(DAY.getTime() + 1)],
  ['undefined first', undefined, DAY],
  ['null in the end', 1, null],
])('an epoch that is %s', (_what, first, second) => {
  test.each([
    ['at once', (value: DeviceEpoch) => value],
    ['later', async (value: DeviceEpoch) => value],
  ])('and returned %s ends all older cookies when it changes', async (_when, given) => {
    let epoch = first
    const { attempt, statusOf } = loginWith(() => given(epoch))
    const [one, other] = [cookieOf(await attempt('ada', RIGHT)), cookieOf(await attempt('ada', RIGHT))]
    expect((await attempt('ada', 'wrong')).status).toBe(401)
    expect([await statusOf(one), await statusOf(other), await statusOf()]).toEqual([200, 200, 429])
    epoch = second
    expect([await statusOf(one), await statusOf(other)]).toEqual([429, 429])
  })
})

test.each<[string, DeviceEpoch, DeviceEpoch]>([
  ['null and undefined', null, undefined],
  ['a date and its milliseconds', DAY, DAY.getTime()],
  ['a number and its digits', 7, '7'],
])('the epochs %s are equal', async (_what, first, second) => {
  let epoch = first
  const { attempt, statusOf } = loginWith(() => epoch)
  const cookie = cookieOf(await attempt('ada', RIGHT))
  await attempt('ada', 'wrong')
  epoch = second
  expect(await statusOf(cookie)).toBe(200)
})

test('epoch is called once for each attempt, even a refused one, with the folded name', async () => {
  const calls: string[] = []
  const { attempt, guard } = loginWith(async (account, { body }) => {
    calls.push(`${account} of "${body.username}"`)
    return undefined
  })
  const response = await attempt(' ADA', RIGHT)
  expect(calls).toEqual(['ada of " ADA"'])
  const statuses = [response.status]
  for (const password of ['wrong', RIGHT, 'wrong']) {
    statuses.push((await attempt('ada', password, HOME, cookieOf(response))).status)
  }
  expect(statuses).toEqual([200, 401, 429, 429])
  expect(calls).toHaveLength(4)
  await adjustments(guard.limiter).forget({ body: { username: 'ada' } })
  expect(calls).toHaveLength(4)
})

describe('an error in epoch goes to next, and the attempt does not reach the handler', () => {
  beforeEach(() => jest.spyOn(console, 'error').mockImplementation(() => undefined)) // where Express writes it
  afterEach(() => jest.restoreAllMocks())

  test.each<[string, Epoch]>([
    ['thrown', () => void fail()],
    ['rejected', async () => void fail()],
    ['for an object', () => ({}) as never],
    ['for true', () => true as never],
    ['for NaN', () => Number.NaN],
    ['for a date that is none', async () => new Date('none')],
  ])('%s', async (_what, epoch) => {
    const { attempt, guard, reached } = loginWith(epoch)
    const statuses: number[] = []
    for (let i = 0; i < 3; i++) statuses.push((await attempt('ada', 'wrong')).status)
    expect({ statuses, reached }).toEqual({ statuses: [500, 500, 500], reached: [] })
    await expect(
      (async () => guard.limiter.charge({ body: { username: 'ada' } } as Request))(),
    ).rejects.toThrow(/no database|deviceCookie: epoch must return a string, a finite number, .*, got/)
  })
})

function fail(): never {
  throw new Error('no database')
}
