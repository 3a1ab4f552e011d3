import type { Socket } from 'node:net'
import { createLimiter, type KeyFunction } from 'headgate'
import { recordWarnings } from '../../support/warnings.js'
import { requestFrom } from './requests.js'

const warnings = recordWarnings()

async function chargeAll(key: KeyFunction<unknown>, subjects: readonly unknown[]): Promise<void> {
  const limiter = createLimiter({ limit: 5, window: '1m', key })
  for (const subject of subjects) await limiter.charge(subject)
}

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
