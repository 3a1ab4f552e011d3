import { createLimiter, fixedWindow, StoreError } from 'headgate'
import { type CommandWords, customRedisStore } from 'headgate/redis'
import { part } from '../../../../src/testing/conformance/store-calls.js'

const policy = fixedWindow({ limit: 3, window: '1m' })
const NOW = 1_790_000_000_000
const FRESH = Buffer.from(new Float64Array([0, 0, 0, NOW]).buffer).toString('hex')
const FIX = 'Write send: (commands) => commands.map((words) => client.sendCommand(words)), without async.'

/** Charges a key through a client. Returns the outcome, or what the store threw. */
async function chargeThrough(send: (commands: readonly CommandWords[]) => unknown): Promise<unknown> {
  const store = customRedisStore({ send: send as never })
  try {
    const [outcome] = await store.apply([{ type: 'charge', parts: [part('key', policy)] }])
    return outcome
  } catch (error) {
    return error
  }
}

test.each<[string, (commands: readonly CommandWords[]) => unknown, string]>([
  ['nothing', () => undefined, 'undefined'],
  ['a reply', () => FRESH, 'a string'],
  ['a promise of replies', async () => [FRESH], 'a promise'],
  ['a promise that is rejected', async () => Promise.reject(new Error('not connected')), 'a promise'],
  ['too few promises', () => [], 'a list of 0 instead of 1'],
  ['too many promises', () => [FRESH, Promise.reject(new Error('unread'))], 'a list of 2 instead of 1'],
])('an error shows the fix for a send that returns %s', async (_, send, got) => {
  expect(await chargeThrough(send)).toMatchObject({
    message: `customRedisStore: send must return a list with a promise for each command, got ${got}. ${FIX}`,
  })
})

test.each<[string, unknown]>([
  ['a promise', Promise.resolve(FRESH)],
  ['a reply without a promise', FRESH],
  // biome-ignore lint/suspicious/noThenProperty: some clients have their own kind of promises
  ['an object with then', { then: (resolve: (reply: string) => void) => resolve(FRESH) }],
])('a send that returns a list of %s works', async (_, reply) => {
  expect(await chargeThrough((commands) => commands.map(() => reply))).toMatchObject({
    allowed: true,
    atMs: NOW,
  })
})

test('a send that throws fails the charge with its error', async () => {
  const error = new Error('the pool is closed')
  const failed = chargeThrough(() => {
    throw error
  })
  expect(await failed).toBe(error)
})

test.each([
  ['OOM command not allowed', { replied: true }],
  ['socket hang up', { replied: false }],
])('an error as a value, %j, counts as a rejection', async (message, facts) => {
  const outcome = await chargeThrough((commands) => commands.map(async () => new Error(message)))
  expect(outcome).toBeInstanceOf(StoreError)
  expect(outcome).toMatchObject({ message: expect.stringContaining(message), ...facts })
})

test('an unknown script is sent with its text, also if the error arrives as a value', async () => {
  const names: string[] = []
  const outcome = await chargeThrough((commands) =>
    commands.map(async ([name]) => {
      names.push(name)
      return name === 'evalsha' ? new Error('NOSCRIPT No matching script.') : FRESH
    }),
  )
  expect(outcome).toMatchObject({ allowed: true })
  expect(names).toEqual(['evalsha', 'eval'])
})

test('a limiter reports the fix, and decides as its onStoreError says', async () => {
  const store = customRedisStore({ send: (async () => []) as never })
  const limiter = createLimiter({ policy, store, key: String, onStoreError: 'deny' })
  const errors: StoreError[] = []
  limiter.events.on('storeError', (error) => errors.push(error))
  expect(await limiter.charge('ada')).toMatchObject({ allowed: false, source: 'fail-closed' })
  const message = expect.stringContaining(`got a promise. ${FIX}`)
  expect(errors).toMatchObject([{ message, store: 'redis' }])
  await expect(limiter.forget('ada')).rejects.toMatchObject({ message })
})
