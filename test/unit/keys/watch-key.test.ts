import type { Socket } from 'node:net'
import { byField, createLimiter, type KeyFunction } from 'headgate'
import { recordWarnings } from '../../support/warnings.js'
import { requestFrom } from './requests.js'

const warnings = recordWarnings()

async function chargeAll(key: KeyFunction<unknown>, subjects: readonly unknown[]): Promise<void> {
  const limiter = createLimiter({ limit: 5, window: '1m', key })
  for (const subject of subjects) await limiter.charge(subject)
}

const times = (count: number, subject: unknown) => Array.from({ length: count }, () => subject)
const REQUEST = requestFrom('192.0.2.7')

test('a key function that returns undefined for 100 subjects in a row is reported', async () => {
  await chargeAll(() => undefined, times(99, REQUEST))
  expect(warnings()).toEqual([])
  await chargeAll(async () => undefined, times(100, REQUEST))
  expect(warnings()).toEqual(['HEADGATE_KEY_UNDEFINED'])
})

test('a key in between starts the count of undefined results afresh', async () => {
  const key = (subject: unknown) => (subject === REQUEST ? undefined : 'a')
  const mixed = [...times(99, REQUEST), {}, ...times(99, REQUEST), {}]
  await chargeAll(key, mixed)
  expect(warnings()).toEqual([])
  await chargeAll(key, [...mixed, ...times(100, REQUEST)])
  expect(warnings()).toEqual(['HEADGATE_KEY_UNDEFINED'])
})

test('a key function that skips requests because its options say so is not reported', async () => {
  const posted = { ...REQUEST, body: { name: 'ada' } }
  await chargeAll(byField('email', { missing: 'skip' }), times(200, posted))
  expect(warnings()).toEqual([])
})

const V6 = '2001:db8:1:1::7'

test.each<[string, readonly unknown[], KeyFunction<unknown>]>([
  ['of the socket', [requestFrom(V6)], (request) => (request as { socket: Socket }).socket.remoteAddress],
  ['of the framework', [{ ip: V6 }], (request) => (request as { ip: string }).ip],
])('an IPv6 address %s as a key is reported', async (_whose, subjects, key) => {
  await chargeAll(key, subjects)
  expect(warnings()).toEqual(['HEADGATE_KEY_IS_IPV6'])
})

test.each<[string, unknown]>([
  ['an IPv4 address', { ip: '192.0.2.7' }],
  ['an IPv4 address in IPv6', { ip: '::ffff:192.0.2.7' }],
])('%s as a key is not reported', async (_what, subject) => {
  await chargeAll((request) => (request as { ip: string }).ip, [subject])
  expect(warnings()).toEqual([])
})

test('another key with colons is not reported', async () => {
  await chargeAll(() => 'user:7', [{ ip: V6 }])
  expect(warnings()).toEqual([])
})

test('a subject whose address cannot be read is charged by its key', async () => {
  const subject = {
    get ip() {
      throw new Error('no address')
    },
  }
  const limiter = createLimiter({ limit: 5, window: '1m', key: () => 'user:7' })
  expect(await limiter.charge(subject)).toMatchObject({ allowed: true })
  expect(warnings()).toEqual([])
})
