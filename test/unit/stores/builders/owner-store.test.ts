import {
  ban,
  concurrency,
  consecutive,
  fixedWindow,
  memoryStore,
  type Policy,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import {
  customStore,
  type Operation,
  type OwnerStoreOptions,
  ownerStore,
  type Store,
  StoreError,
  serveOperations,
} from 'headgate/store'
import { ownerDocuments } from '../../../../src/stores/builders/document-codec.js'
import { chargeOne, part, remainingOf } from '../../../../src/testing/conformance/store-calls.js'
import { describeStoreConformance } from '../../../support/store-conformance.js'

const three = consecutive({ limit: 3 })
const policies: readonly Policy[] = [
  tokenBucket({ capacity: 5, refill: 7, every: '1s' }),
  slidingWindow({ limit: 4, window: '997ms', slices: 3 }),
  fixedWindow({ limit: 3, window: '700ms' }),
  fixedWindow({ limit: 3, window: '700ms', startsAt: 'first-request' }),
  three,
  concurrency({ limit: 5, ttl: '90s' }),
  ban(fixedWindow({ limit: 3, window: '1h' }), {
    after: 2,
    within: '1m',
    for: ['1m', '1d'],
    onAttempt: 'restart',
  }),
]

/** Sends messages as text, as a socket would. */
const overText =
  (serve: ReturnType<typeof serveOperations>): OwnerStoreOptions['send'] =>
  async (message) =>
    JSON.parse(JSON.stringify(await serve(JSON.parse(JSON.stringify(message)))))

/** Sends messages as worker threads and Durable Objects do. */
const overClones =
  (serve: ReturnType<typeof serveOperations>): OwnerStoreOptions['send'] =>
  async (message) =>
    structuredClone(await serve(structuredClone(message)))

test.each([
  ['text', overText],
  ['structured clones', overClones],
])('operations and results are the same at the owner and at the sender, over %s', async (_, over) => {
  const nowMs = 1_790_000_000_123.25
  const received: (readonly Operation[])[] = []
  const memory = memoryStore({ clock: () => nowMs })
  const plain = memoryStore({ clock: () => nowMs })
  const serve = serveOperations(
    customStore({
      name: 'memory',
      apply(operations) {
        received.push(operations)
        return memory.apply(operations)
      },
    }),
  )
  const store = ownerStore({ name: 'owner', send: over(serve) })
  const banning = policies.at(-1) as Policy
  const renewable = policies.at(-2) as Policy
  const operations: Operation[] = [
    ...policies.map(
      (policy, i): Operation => ({
        type: 'charge',
        parts: [part(`k${i}`, policy), part('Infinity', three, 0)],
      }),
    ),
    { type: 'charge', parts: [part('k4', three, 9)] },
    { type: 'take', key: 'k4', policy: three, units: 9 },
    {
      type: 'refund',
      key: 'k4',
      policy: three,
      cost: 1,
      takenAtMs: nowMs,
      resetAtMs: Number.POSITIVE_INFINITY,
    },
    { type: 'refund', key: 'k4', policy: three, cost: 1, takenAtMs: nowMs },
    { type: 'reward', key: 'k4', policy: three, units: 1 },
    { type: 'renew', key: 'k5', policy: renewable, cost: 1, takenAtMs: nowMs, resetAtMs: nowMs + 90_000 },
    { type: 'block', key: 'k6', policy: banning, forMs: 60_000 },
    { type: 'take', key: 'k1', policy: policies[1] as Policy, units: 0 },
    { type: 'forget', key: 'k0', policy: policies[0] as Policy },
    { type: 'charge', parts: [] },
  ]
  const outcomes = await store.apply(operations)
  const withoutNext = JSON.parse(
    JSON.stringify(plain.apply(operations), (name, value) => {
      if (name === 'next') return undefined
      return value === Number.POSITIVE_INFINITY ? 'never' : value
    }),
    (_name, value) => (value === 'never' ? Number.POSITIVE_INFINITY : value),
  )
  expect(outcomes).toEqual(withoutNext)
  const shown = (all: readonly Operation[]) =>
    JSON.stringify(all, (_name, value) =>
      value === Number.POSITIVE_INFINITY ? 'never' : (value?.spec ?? value),
    )
  expect(shown(received.flat())).toBe(shown(operations))
})

describe('errors', () => {
  test('of single operations arrive as they are', async () => {
    const error = new StoreError('shared', 'a corrupt row', { replied: true, server: '10.0.0.7:6379' })
    const serve = serveOperations(customStore({ name: 'shared', apply: () => [error, { type: 'forget' }] }))
    const store = ownerStore({ name: 'owner', send: overText(serve) })
    const forget: Operation = { type: 'forget', key: 'a', policy: three }
    const [first, second] = await store.apply([forget, forget])
    expect(first).toBeInstanceOf(StoreError)
    expect(first).toMatchObject({
      message: 'shared: a corrupt row',
      store: 'shared',
      replied: true,
      unsent: false,
      server: '10.0.0.7:6379',
    })
    expect(second).toEqual({ type: 'forget' })
  })

  test.each([
    ['a text', 'hello'],
    ['nothing', undefined],
    ['too few outcomes', { headgate: 'outcomes', version: 1, outcomes: [] }],
    ['another version', { headgate: 'outcomes', version: 2, outcomes: [{ type: 'charge' }] }],
  ])('of a reply that is %s', async (_what, reply) => {
    const store = ownerStore({ name: 'owner', send: async () => reply })
    await expect(chargeOne(store, part('a', three))).rejects.toThrow(
      'owner: the owner process sent an invalid reply',
    )
  })

  test.each([
    ['a text', 'hello', 'the message is not one of ownerStore'],
    ['nothing', undefined, 'the message is not one of ownerStore'],
    [
      'another version',
      { headgate: 'operations', version: 7, policies: [], operations: [] },
      'the message has version 7, but this process reads version 1',
    ],
    [
      'a policy of an unknown kind',
      { headgate: 'operations', version: 1, policies: ['{"kind":"leaky-bucket"}'], operations: [] },
      'is not a policy: the versions of headgate may differ',
    ],
    [
      'a policy that is not JSON',
      { headgate: 'operations', version: 1, policies: ['consecutive-5'], operations: [] },
      '"consecutive-5" is not a policy',
    ],
    [
      'no key',
      {
        headgate: 'operations',
        version: 1,
        policies: ['{"kind":"consecutive","limit":5}'],
        operations: [{ type: 'forget', policy: 0 }],
      },
      'an operation has no key or policy',
    ],
    [
      'no policy',
      {
        headgate: 'operations',
        version: 1,
        policies: [],
        operations: [{ type: 'forget', key: 'a', policy: 0 }],
      },
      'an operation has no key or policy',
    ],
    ['null', { headgate: 'operations', version: 1, policies: [], operations: [null] }, 'memory: '],
    ['an empty part', { headgate: 'operations', version: 1, policies: [], operations: [[null]] }, 'memory: '],
    [
      'a time that is a text',
      {
        headgate: 'operations',
        version: 1,
        policies: ['{"kind":"consecutive","limit":5}'],
        operations: [{ type: 'refund', key: 'a', policy: 0, cost: 1, takenAtMs: 1, resetAtMs: '2' }],
      },
      'resetAtMs is not a number',
    ],
    ['a number', { headgate: 'operations', version: 1, policies: [5], operations: [] }, 'memory: '],
  ])('of a message that is %s reach the sender', async (_what, message, text) => {
    const serve = serveOperations(memoryStore())
    expect(await serve(message)).toMatchObject({
      headgate: 'failure',
      error: { store: 'memory', message: expect.stringContaining(text) },
    })
  })

  test('of a policy that is not of headgate fail its operation alone, which is not sent', async () => {
    const serve = serveOperations(memoryStore())
    const own = { ...three, spec: { kind: 'leaky-bucket', limit: 3 } } as unknown as Policy
    const store = ownerStore({ name: 'owner', send: overText(serve) })
    const outcomes = await store.apply(
      [own, three].map((policy) => ({ type: 'charge', parts: [part('a', policy)] })),
    )
    expect(outcomes).toEqual([
      expect.objectContaining({
        message: 'owner: only policies that headgate made can be sent to another process, got "leaky-bucket"',
        replied: true,
      }),
      expect.objectContaining({ allowed: true }),
    ])
  })

  test('of a policy with numbers that no policy has come from the owner, which takes nothing', async () => {
    const memory = memoryStore()
    const own = { ...three, spec: { ...three.spec, limit: -3 } } as unknown as Policy
    const store = ownerStore({ name: 'owner', send: overText(serveOperations(memory)) })
    await expect(chargeOne(store, part('a', own))).rejects.toThrow('is not a policy')
    expect(memory.size).toBe(0)
  })

  test('of an owner that does not reply come after the time-out', async () => {
    const store = ownerStore({ name: 'owner', send: () => new Promise(() => {}), timeout: '20ms' })
    await expect(chargeOne(store, part('a', three))).rejects.toThrow('owner: no reply within 20 ms')
  })
})

describe('documents of an owner', () => {
  const documentsOf = (store: Store) => {
    const serve = serveOperations(store)
    return ownerDocuments('owner', async (message) =>
      JSON.parse(JSON.stringify(await serve(JSON.parse(JSON.stringify(message))))),
    )
  }

  test('are those of its store', async () => {
    const store = memoryStore()
    const documents = documentsOf(store)
    expect(await documents.replace('a', 'first', undefined)).toBe(true)
    expect(await documents.replace('a', 'second', undefined)).toBe(false)
    const [found, missing] = await documents.read([{ key: 'a' }, { key: 'b' }])
    expect([found?.text, missing]).toEqual(['first', undefined])
    expect(await documents.replace('a', 'second', found?.version)).toBe(true)
    const [changed] = (await store.documents?.read([{ key: 'a' }])) ?? []
    expect(changed?.text).toBe('second')
    const [same] = await documents.read([{ key: 'a', version: changed?.version }])
    expect(same).toEqual({ version: changed?.version }) // the reader has the text
  })

  test('are an error if its store has none', async () => {
    const documents = documentsOf(customStore({ name: 'plain', apply: () => [] }))
    await expect(documents.read([{ key: 'a' }])).rejects.toThrow('plain: the store has no documents')
  })

  test.each([{}, { read: [{}] }, { read: [{ key: 'a', version: 5 }] }, { replace: { key: 'a' } }])(
    'asked for by %j are an error',
    async (call) => {
      const reply = await serveOperations(memoryStore())({ headgate: 'documents', version: 1, ...call })
      expect(reply).toMatchObject({
        headgate: 'failure',
        error: { message: 'memory: the message does not ask for documents' },
      })
    },
  )

  test.each([undefined, {}, { headgate: 'documents', version: 1 }])(
    'in a reply %j are an error',
    async (reply) => {
      const documents = ownerDocuments('owner', async () => reply)
      await expect(documents.read([{ key: 'a' }])).rejects.toThrow('owner: the owner process sent an invalid')
      await expect(documents.replace('a', '', undefined)).rejects.toThrow('owner: the owner process sent an')
    },
  )
})

describe('several owners', () => {
  const owners = () => {
    const stores = new Map(['a', 'b'].map((name) => [name, serveOperations(memoryStore())]))
    const asked: string[] = []
    const store = ownerStore({
      name: 'owners',
      ownerOf: (key) => key.charAt(0),
      async send(message, owner) {
        asked.push(owner)
        const serve = stores.get(owner)
        if (serve === undefined) throw new Error(`there is no owner ${owner}`)
        return serve(message)
      },
    })
    return { store, asked }
  }

  test('each get the operations of their keys', async () => {
    const { store, asked } = owners()
    await store.apply(['a1', 'b1', 'a2'].map((key) => ({ type: 'charge', parts: [part(key, three)] })))
    expect(asked).toEqual(['a', 'b'])
  })

  test('decide a charge of their keys all or nothing, and one that is lost fails no others', async () => {
    const { store } = owners()
    await chargeOne(store, part('b1', three, 3))
    expect(await chargeOne(store, part('a1', three), part('b1', three))).toMatchObject({ allowed: false })
    expect(await remainingOf(store, three, ['a1'])).toEqual([3])
    const outcomes = await store.apply(
      ['a1', 'c1'].map((key) => ({ type: 'charge', parts: [part(key, three)] })),
    )
    expect(outcomes).toEqual([
      expect.objectContaining({ allowed: true }),
      expect.objectContaining({ message: 'owners: there is no owner c' }),
    ])
  })

  describeStoreConformance(
    'a store with an owner for each key',
    {
      makeStore() {
        const made = new Map<string, ReturnType<typeof serveOperations>>()
        let nowMs = 1_790_000_000_000
        const serveOf = (owner: string) => {
          const serve = made.get(owner) ?? serveOperations(memoryStore({ clock: () => nowMs }))
          made.set(owner, serve)
          return serve
        }
        const store = ownerStore({
          name: 'owners',
          ownerOf: (key) => key,
          send: (message, owner) => serveOf(owner)(message),
        })
        const advance = (ms: number) => {
          nowMs += ms
        }
        return { store, advance }
      },
      capabilities: { settableClock: true, anyKey: true, atomicAcrossKeys: false },
    },
    'sample',
  )
})

test.each<[object, string]>([
  [{}, 'ownerStore: 2 options are wrong'],
  [{ name: 'a' }, 'ownerStore: send must be a function, got undefined. Write send: (message) => …'],
  [{ name: 'a', send() {}, timeout: 0 }, 'ownerStore: timeout must be a duration from 1 ms to 1m'],
])('wrong options are an error: %p', (options, message) => {
  expect(() => ownerStore(options as never)).toThrow(TypeError)
  expect(() => ownerStore(options as never)).toThrow(message)
})

test.each([undefined, null, {}, () => undefined])('serveOperations of %p is an error', (store) => {
  expect(() => serveOperations(store as never)).toThrow(
    'serveOperations: store must be an object with name and apply',
  )
})
