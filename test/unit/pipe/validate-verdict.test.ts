import { type Charge, type Store, StoreError, tokenBucket } from 'headgate'
import { guardStore } from '../../../src/pipe/guarded-store.js'
import { type Submit, withSubmit } from '../../../src/stores/shared/submit.js'
import { chargeGuarded } from '../../support/charge-guarded.js'

const policy = tokenBucket({ capacity: 5, refill: 5, every: '1m' })
const charge: Charge = [
  { key: 'a', policy, cost: 1 },
  { key: 'b', policy, cost: 1 },
]
const part = { allowed: true, remaining: 4, resetAfterMs: 100, retryAfterMs: 0, moreAfterMs: 100 }
const denying = { ...part, allowed: false, remaining: 0, retryAfterMs: 100 }
const verdict = { allowed: true, atMs: 1_790_000_000_000, parts: [part, part] }

const fake: Store = { name: 'fake', charge: () => [], refund() {}, forget() {} }

/** Charges a store that submits charges one by one, and settles them with an outcome. */
function submitWith(outcome: unknown) {
  const submit = (_charge: Charge, settle: (outcome: unknown) => void) =>
    queueMicrotask(() => settle(outcome))
  return chargeGuarded(guardStore(withSubmit({ ...fake }, submit as Submit), { timeoutMs: 100 }), charge)
}

function chargeWith(answer: unknown) {
  const store = { name: 'fake', charge: () => answer, refund() {}, forget() {} }
  return chargeGuarded(guardStore(store as unknown as Store, { timeoutMs: 100 }), charge)
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
  ['allowed missing', [{ atMs: 1, parts: [part, part] }]],
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
/** One of each kind: promises and submitted charges are checked by the same function. */
const SAMPLE = ['null', 'no verdicts', 'a list of null', 'no parts', 'atMs missing', 'remaining NaN']
const sample = invalid.filter(([what]) => SAMPLE.includes(what))

test.each(invalid)('%s as the answer of a synchronous store is a StoreError', (_what, answer) => {
  expect(() => chargeWith(answer)).toThrow(StoreError)
  expect(() => chargeWith(answer)).toThrow('fake: the answer is not a list of one valid verdict')
})

test.each(sample)(
  '%s as the answer of a store that returns a promise is a StoreError',
  async (_what, answer) => {
    await expect(chargeWith(Promise.resolve(answer))).rejects.toThrow(StoreError)
  },
)

const invalidVerdicts = sample.map(
  ([what, answer]) => [what, Array.isArray(answer) && answer.length === 1 ? answer[0] : answer] as const,
)

test.each(invalidVerdicts)(
  '%s as the outcome of a submitted charge is a StoreError',
  async (_what, outcome) => {
    await expect(submitWith(outcome)).rejects.toThrow('fake: the answer is not a valid verdict')
  },
)

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

test('a valid verdict on a submitted charge is returned, and its error rejects', async () => {
  expect(await submitWith(verdict)).toBe(verdict)
  const error = new StoreError('fake', 'no such table', { answered: true })
  await expect(submitWith(error)).rejects.toBe(error)
})

test('a submit that throws rejects the charge with a StoreError', async () => {
  const submit = () => {
    throw new TypeError('a cost must be whole')
  }
  const guarded = guardStore(withSubmit({ ...fake }, submit), { timeoutMs: 100 })
  await expect((async () => chargeGuarded(guarded, charge))()).rejects.toThrow('fake: a cost must be whole')
})

test('an object that wraps a store or inherits from it is charged by its own charge', async () => {
  const submit = jest.fn()
  const store = withSubmit({ ...fake }, submit)
  const own = async () => [verdict]
  for (const wrapped of [{ ...store, charge: own }, Object.assign(Object.create(store), { charge: own })])
    expect(await chargeGuarded(guardStore(wrapped, { timeoutMs: 100 }), charge)).toBe(verdict)
  expect(submit).not.toHaveBeenCalled()
})
