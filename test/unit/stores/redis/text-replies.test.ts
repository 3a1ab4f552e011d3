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
  ['a Buffer', Buffer.from(FRESH)],
  ['bytes', new TextEncoder().encode(FRESH)],
  ['a list of Buffers', [Buffer.from(hexOf(NOW)), Buffer.from(''), Buffer.from('')]],
])('text that arrives as %s is decided on', async (_, reply) => {
  expect(await chargeWith(reply)).toMatchObject([{ allowed: true, atMs: NOW }])
})

test.each([
  ['other characters', FRESH.replace(/^../, 'zz'), 'a string'],
  ['a digit more', `${FRESH}0`, 'a string'],
  ['a byte less', FRESH.slice(2), '31 bytes'],
  ['spaces', FRESH.replace(/^../, ' 1'), 'a string'],
  [
    'a list with other characters',
    [hexOf(NOW), '', 'the state of someone'],
    'a list of 8 bytes, a string, a string',
  ],
  ['a list with a number', [hexOf(NOW), '', 7], 'a list of 8 bytes, a string, a number'],
  ['a list with a list', [hexOf(NOW), '', [hexOf(NOW)]], 'a list of 8 bytes, a string, an array of 1'],
  ['an error and a reply, as of a pipeline', [null, FRESH], 'a list of null, a string'],
  ['no items', [], 'a list of nothing'],
  ['a status', 'OK', 'a string'],
  ['a parsed number', 0, 'a number'],
  ['an integer', 0n, 'a bigint'],
  ['a parsed object', {}, 'an object'],
  ['true', true, 'true'],
  ['null', null, 'null'],
  ['nothing', undefined, 'undefined'],
])('%s in place of the digits of a state fail the charge', async (_, reply, got) => {
  const [outcome] = await chargeWith(reply)
  expect(outcome).toMatchObject({
    message: `redis: the script returned a malformed reply: ${got}. Check that the client resolves with replies as the server sends them.`,
    replied: false,
    unsent: false,
  })
})
