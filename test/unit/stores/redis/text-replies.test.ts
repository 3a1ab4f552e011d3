import { fixedWindow } from 'headgate'
import { customRedisStore } from 'headgate/redis'
import { part } from '../../../../src/testing/conformance/store-calls.js'

const policy = fixedWindow({ limit: 3, window: '1m' })
const NOW = 1_790_000_000_000

/** Returns numbers as a reply has them. */
const hexOf = (...numbers: readonly number[]) => Buffer.from(new Float64Array(numbers).buffer).toString('hex')

/** Charges a key in a server that replies with this. */
function chargeWith(reply: unknown) {
  const store = customRedisStore({ send: (commands) => commands.map(async () => reply) })
  return Promise.resolve(store.apply([{ type: 'charge', parts: [part('key', policy)] }]))
}

const FRESH = hexOf(0, 0, 0, NOW)

test('a reply in hexadecimal digits is decided on', async () => {
  expect(await chargeWith(FRESH)).toMatchObject([{ allowed: true, atMs: NOW }])
  expect(await chargeWith([hexOf(NOW), '', ''])).toMatchObject([{ allowed: true, atMs: NOW }])
  expect(await chargeWith([hexOf(NOW), '', null])).toMatchObject([
    { message: expect.stringContaining('key') },
  ])
})

test.each([
  ['other characters', FRESH.replace(/^../, 'zz')],
  ['a digit more', `${FRESH}0`],
  ['a digit less', FRESH.slice(1)],
  ['spaces', FRESH.replace(/^../, ' 1')],
  ['a list with other characters', [hexOf(NOW), '', 'the state of someone']],
  ['a list with a number', [hexOf(NOW), '', 7]],
  ['a list with a list', [hexOf(NOW), '', [hexOf(NOW)]]],
  ['a status', 'OK'],
  ['nothing', undefined],
])('%s in place of the digits of a state fail the charge', async (_, reply) => {
  const [outcome] = await chargeWith(reply)
  expect(outcome).toMatchObject({ message: 'redis: the script returned a malformed reply', replied: false })
})
