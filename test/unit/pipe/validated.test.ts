import { ban, concurrency, type Store, StoreError, tokenBucket } from 'headgate'
import { customStore, type Operation } from 'headgate/store'
import { request } from '../../../src/pipe/pipe.js'
import { remoteStore } from '../../../src/pipe/remote-store.js'
import { pipeTo } from '../../../src/pipe/store-end.js'
import type { Parts } from '../../../src/testing/conformance/store-calls.js'
import { chargePipe, remotePipe } from '../../support/remote-pipe.js'

const policy = tokenBucket({ capacity: 5, refill: 5, every: '1m' })
const charge: Parts = [
  { key: 'a', policy, cost: 1 },
  { key: 'b', policy, cost: 1 },
]
const part = { allowed: true, remaining: 4, resetAfterMs: 100, retryAfterMs: 0, moreAfterMs: 100 }
const denying = { ...part, allowed: false, remaining: 0, retryAfterMs: 100 }
const verdict = { type: 'charge', allowed: true, atMs: 1_790_000_000_000, parts: [part, part] }

/** A store that answers each batch alike. */
const storeThat = (answer: unknown) => ({ name: 'fake', apply: () => answer }) as Store

const chargeWith = (answer: unknown) => chargePipe(remotePipe(storeThat(answer), { timeoutMs: 100 }), charge)

/** Charges a store whose charges go in batches, and which answers them alike. */
async function chargeInBatch(answer: unknown) {
  const store: Store = { ...storeThat(answer), batching: { maxKeys: 100, maxInFlight: 1 } }
  return chargePipe(remotePipe(store, { timeoutMs: 100 }), charge)
}

const TEN_YEARS_MS = 10 * 365 * 86_400_000
const withPart = (fields: object) => [{ ...verdict, parts: [part, { ...part, ...fields }] }]
const times = ['resetAfterMs', 'retryAfterMs', 'moreAfterMs']
const figures = ['remaining', ...times]

const invalid: [string, unknown][] = [
  ['undefined', undefined],
  ['null', null],
  ['true', true],
  ['a number', 1],
  ['a string', 'allowed'],
  ['a string of length 1', 'y'],
  ['a function', () => [verdict]],
  ['a bare verdict', verdict],
  ['no verdicts', []],
  ['two verdicts', [verdict, verdict]],
  ['an object that looks like a list', { 0: verdict, length: 1 }],
  ['a list of undefined', [undefined]],
  ['a list of null', [null]],
  ['a list of booleans', [true]],
  ['a list of strings', ['allowed']],
  ['a list of lists', [[verdict]]],
  ['an empty verdict', [{}]],
  ['type missing', [{ ...verdict, type: undefined }]],
  ['the type of another operation', [{ ...verdict, type: 'take' }]],
  ['allowed missing', [{ type: 'charge', atMs: 1, parts: [part, part] }]],
  ['allowed as a number', [{ ...verdict, allowed: 1 }]],
  ['allowed as a string', [{ ...verdict, allowed: 'true' }]],
  ['atMs missing', [{ ...verdict, atMs: undefined }]],
  ['atMs not a number', [{ ...verdict, atMs: Number.NaN }]],
  ['atMs infinite', [{ ...verdict, atMs: Number.POSITIVE_INFINITY }]],
  ['atMs as a string', [{ ...verdict, atMs: '1790000000000' }]],
  ['parts missing', [{ ...verdict, parts: undefined }]],
  ['parts as an object', [{ ...verdict, parts: { 0: part, 1: part } }]],
  ['no parts', [{ ...verdict, parts: [] }]],
  ['too few parts', [{ ...verdict, parts: [part] }]],
  ['too many parts', [{ ...verdict, parts: [part, part, part] }]],
  ['a part that is undefined', [{ ...verdict, parts: [part, undefined] }]],
  ['a part that is null', [{ ...verdict, parts: [part, null] }]],
  ['a part that is a string', [{ ...verdict, parts: [part, 'allowed'] }]],
  ['a part without allowed', withPart({ allowed: undefined })],
  ['a part allowed as a string', withPart({ allowed: 'true' })],
  ['a part whose atMs is not a number', withPart({ atMs: Number.NaN })],
  ['a part whose atMs is a string', withPart({ atMs: '1790000000000' })],
  ['allowed although a part is denied', [{ ...verdict, parts: [part, denying] }]],
  ['denied although every part is allowed', [{ ...verdict, allowed: false }]],
  ...times.map((time): [string, unknown] => [
    `${time} longer than any policy waits`,
    withPart({ [time]: 1e18 }),
  ]),
  ['remaining of 1e300', withPart({ remaining: 1e300 })],
  ...figures.map((figure): [string, unknown] => [`${figure} NaN`, withPart({ [figure]: Number.NaN })]),
  ...figures.map((figure): [string, unknown] => [`${figure} negative`, withPart({ [figure]: -1 })]),
  ['a part without remaining', withPart({ remaining: undefined })],
  ['remaining as a string', withPart({ remaining: '4' })],
  ['remaining as a bigint', withPart({ remaining: 4n })],
  ['resetAfterMs minus infinity', withPart({ resetAfterMs: Number.NEGATIVE_INFINITY })],
  ['retryAfterMs null', withPart({ retryAfterMs: null })],
]
/** One of each kind: promises and batched charges are checked by the same function. */
const SAMPLE = ['null', 'no verdicts', 'a list of null', 'no parts', 'atMs missing', 'remaining NaN']
const sample = invalid.filter(([what]) => SAMPLE.includes(what))

test.each(invalid)('%s as the answer of a synchronous store is a StoreError', (_what, answer) => {
  expect(() => chargeWith(answer)).toThrow(StoreError)
  const isList = Array.isArray(answer) && answer.length === 1
  const problem = isList ? 'a valid result for a charge' : 'an array of one outcome'
  expect(() => chargeWith(answer)).toThrow(`fake: apply did not return ${problem}`)
})

test.each(sample)(
  '%s as the answer of a store that returns a promise is a StoreError',
  async (_what, answer) => {
    await expect(chargeWith(Promise.resolve(answer))).rejects.toThrow(StoreError)
  },
)

test.each(sample)('%s as the answer to a batch is a StoreError', async (_what, answer) => {
  const problem =
    Array.isArray(answer) && answer.length === 1 ? 'a valid result for a charge' : 'an array of one'
  await expect(chargeInBatch(answer)).rejects.toThrow(`fake: apply did not return ${problem}`)
})

test.each([1, 3])('%i outcomes of a batch of two fail both operations', async (count) => {
  const apply = async () => Array.from({ length: count }, () => verdict)
  const store = { name: 'fake', apply, batching: { maxKeys: 100, maxInFlight: 1 } } as unknown as Store
  const pipe = remotePipe(store, { timeoutMs: 100 })
  const charges = [charge, charge].map(async (parts) => chargePipe(pipe, parts))
  const message = 'fake: apply did not return an array of 2 outcomes'
  const failure = { status: 'rejected', reason: expect.objectContaining({ message }) }
  expect(await Promise.allSettled(charges)).toEqual([failure, failure])
})

test.each([
  ['a denial', [{ ...verdict, allowed: false, parts: [part, denying] }]],
  [
    'a denial for ever',
    [{ ...verdict, allowed: false, parts: [part, { ...denying, retryAfterMs: Infinity }] }],
  ],
  ['a limit that never resets', withPart({ resetAfterMs: Infinity, moreAfterMs: Infinity })],
  ['times of ten years', withPart({ resetAfterMs: TEN_YEARS_MS, moreAfterMs: TEN_YEARS_MS })],
  ['figures of 0', withPart({ remaining: 0, resetAfterMs: 0, moreAfterMs: 0 })],
  ['more fields than needed', [{ ...verdict, node: 'eu-1', parts: [{ ...part, next: [1] }, part] }]],
])('%s is a valid answer', async (_what, answer) => {
  expect(chargeWith(answer)).toBe(answer[0])
  expect(await chargeWith(Promise.resolve(answer))).toBe(answer[0])
})

test('a valid verdict on a charge of a batch is returned, and its error rejects', async () => {
  expect(await chargeInBatch([verdict])).toBe(verdict)
  const error = new StoreError('fake', 'no such table', { replied: true })
  await expect(chargeInBatch([error])).rejects.toBe(error)
})

test('what a batch rejects with is the cause of a StoreError', async () => {
  const cause = new Error('connection lost')
  const error = await chargeInBatch(Promise.reject(cause)).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(StoreError)
  expect(error).toMatchObject({ message: 'fake: connection lost', cause })
})

test.each([
  ['a text', 'connection lost', 'fake: connection lost'],
  ['what looks like a result', verdict, 'fake: an object was thrown'],
  ['nothing', undefined, 'fake: undefined was thrown'],
])('%s that a batch rejects with is a StoreError, and never an outcome', async (_what, reason, message) => {
  const apply = () => Promise.reject(reason)
  const store = { name: 'fake', apply, batching: { maxKeys: 100, maxInFlight: 1 } } as unknown as Store
  const error = await Promise.resolve(chargePipe(remotePipe(store, { timeoutMs: 100 }), charge)).catch(
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(StoreError)
  expect(error).toMatchObject({ message, cause: reason })
})

test('an object that wraps a store or inherits from it is charged by its own apply', async () => {
  const apply = jest.fn()
  const store: Store = { name: 'fake', apply, batching: { maxKeys: 100, maxInFlight: 1 } }
  pipeTo(customStore(store))
  const own = async () => [verdict]
  for (const wrapped of [{ ...store, apply: own }, Object.assign(Object.create(store), { apply: own })])
    expect(await chargePipe(remotePipe(wrapped, { timeoutMs: 100 }), charge)).toBe(verdict)
  expect(apply).not.toHaveBeenCalled()
})

describe('of other operations', () => {
  const key = { key: 'a', policy }
  const slots = concurrency({ limit: 5, ttl: '1m' })
  const banning = ban(policy, { after: 1, within: '1m', for: '1h' })
  const standing = { atMs: 1, remaining: 3, moreAfterMs: 5, resetAfterMs: 9, bannedForMs: 0 }
  const OPERATIONS: readonly (readonly [Operation, valid: object, invalid: readonly object[]])[] = [
    [
      { type: 'take', ...key, units: 2 },
      { ...standing, taken: 2 },
      [{ taken: 3 }, { taken: -1 }, { taken: 0.5 }, { taken: undefined }, { remaining: -1 }],
    ],
    [
      { type: 'reward', ...key, units: 2 },
      standing,
      [{ atMs: Number.NaN }, { remaining: undefined }, { moreAfterMs: -1 }, { bannedForMs: undefined }],
    ],
    [
      { type: 'block', key: 'a', policy: banning, forMs: 1000 },
      standing,
      [{ atMs: undefined }, { resetAfterMs: Number.NaN }, { bannedForMs: '1000' }],
    ],
    [
      { type: 'renew', key: 'a', policy: slots, cost: 1, takenAtMs: 1 },
      { resetAtMs: 5 },
      [{ resetAtMs: undefined }, { resetAtMs: Number.NaN }],
    ],
    [{ type: 'refund', ...key, cost: 1, takenAtMs: 1 }, {}, []],
    [{ type: 'forget', ...key }, {}, []],
  ]

  test.each(OPERATIONS)('the result of %j', async (operation, fields, invalid) => {
    const { type } = operation
    const send = async (result: object) => request(pipeTo(customStore(storeThat([result]))), operation)
    const valid = { ...fields, type }
    expect(await send(valid)).toBe(valid)
    for (const wrong of [...invalid, { type: undefined }, { type: 'charge' }])
      await expect(send({ ...valid, ...wrong })).rejects.toThrow(
        `fake: apply did not return a valid result for a ${type}`,
      )
  })
})

test.each([undefined, { maxKeys: 100, maxInFlight: 1 }])(
  'the outcomes of a store of this package are not checked, unless it is copied with another apply, batching %j',
  async (batching) => {
    const unchecked = [{ ...verdict, parts: [] }]
    const store = remoteStore({ ...storeThat(unchecked), ...(batching && { batching }) })
    const ofStore = (each: Store) => chargePipe(remotePipe(each, { timeoutMs: 100 }), charge)
    expect(await ofStore(store)).toBe(unchecked[0])
    expect(await ofStore({ ...store })).toBe(unchecked[0])
    const copy: Store = { ...store, apply: (operations) => store.apply(operations) }
    await expect((async () => ofStore(copy))()).rejects.toThrow('fake: apply did not return a valid result')
  },
)
