import { memoryStore } from 'headgate'
import { overloadGuard } from 'headgate/http'
import { customStore } from 'headgate/store'
import { recordWarnings } from '../../support/warnings.js'
import { sharedDocuments, sharedStore } from '../dashboard/shared/shared-documents.js'

const warnings = recordWarnings()

afterEach(() => void jest.useRealTimers())

const fixed = { minLimit: 10, maxLimit: 10, maxWait: 0 } as const
const subject = { ip: '192.0.2.1', socket: { remoteAddress: '192.0.2.1' } } as never

test('guards of one name tell one another every second what their tenants use, until they close', async () => {
  jest.useFakeTimers()
  const { documents, texts, set } = sharedDocuments()
  const store = sharedStore(documents)
  const create = (name: string) =>
    overloadGuard({ ...fixed, name, store, prefix: 'shop', tenant: () => 'ada' })
  const [first, second, other] = [create('api'), create('api'), create('jobs')]
  for (let i = 0; i < 4; i++) await first.limiter.charge(subject)
  await jest.advanceTimersByTimeAsync(8000)
  const told = Object.fromEntries([...texts].map(([key, text]) => [key, JSON.parse(text).shares]))
  expect(told).toMatchObject({
    'shop:overload:api/0': { limit: 10, uses: [['new', expect.closeTo(4, 0)]] },
    'shop:overload:api/1': { limit: 10, uses: [] },
    'shop:overload:jobs/0': { limit: 10, uses: [] },
  })
  await Promise.all([first.close(), second.close(), second.close(), other.close()])
  expect([...texts.values()]).toEqual(['', '', ''])
  await jest.advanceTimersByTimeAsync(3000)
  expect([...texts.values()]).toEqual(['', '', ''])
  set('fail')
  await expect(create('api').close()).resolves.toBeUndefined()
})

test('requests do not wait for a store that hangs, and the guard closes', async () => {
  jest.useFakeTimers()
  const { documents, set } = sharedDocuments()
  set('hang')
  const guard = overloadGuard({ ...fixed, name: 'api', store: sharedStore(documents), tenant: () => 'ada' })
  await jest.advanceTimersByTimeAsync(5000)
  expect(await guard.limiter.charge(subject)).toMatchObject({ allowed: true })
  const closed = guard.close()
  await jest.advanceTimersByTimeAsync(2000)
  await closed
  set('none')
})

test('an outage of the store is reported once, to a listener or as a warning, and in the status', async () => {
  jest.useFakeTimers()
  const { documents, set } = sharedDocuments()
  const options = { ...fixed, store: sharedStore(documents), tenant: () => 'ada' }
  const [heard, unheard] = [
    overloadGuard({ ...options, name: 'heard' }),
    overloadGuard({ ...options, name: 'api' }),
  ]
  const errors: string[] = []
  heard.limiter.events.on('storeError', ({ message }) => errors.push(message))
  const problems = () => [heard.status().storeProblem, unheard.status().storeProblem]
  const found: unknown[] = [problems()]
  for (const fault of ['fail', 'none', 'fail'] as const) {
    set(fault)
    await jest.advanceTimersByTimeAsync(3000)
    found.push(problems().map((each) => typeof each))
  }
  expect(found).toEqual([
    [undefined, undefined],
    ['string', 'string'],
    ['undefined', 'undefined'],
    ['string', 'string'],
  ])
  expect(errors).toHaveLength(2)
  expect(warnings()).toEqual(['HEADGATE_STORE_ERROR'])
  set('none')
})

const { apply } = memoryStore()
const plain = customStore({ name: 'plain', apply: (operations) => apply(operations) })
const shared = sharedStore(sharedDocuments().documents)
const tenant = () => 'ada'

test.each([
  [{ store: {}, tenant, name: 'api' }, /^overloadGuard: store must be a store, got /],
  [{ store: plain, tenant, name: 'api' }, /^overloadGuard: store must support documents, but plain/],
  [
    { store: sharedStore(sharedDocuments().documents), name: 'api' },
    /^overloadGuard: store requires tenant\. /,
  ],
  [{ store: shared, tenant }, /: store requires name\. /],
  [{ prefix: '' }, /^overloadGuard: prefix must be /],
])('wrong options are a TypeError: %j', (options, message) => {
  expect(() => overloadGuard(options as never)).toThrow(message)
})
