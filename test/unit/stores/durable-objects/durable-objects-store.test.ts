import { consecutive, slidingWindow, tokenBucket } from 'headgate'
import {
  type DurableObjectsStoreOptions,
  durableObjectsStore,
  limitsObject,
  type ObjectNamespace,
} from 'headgate/durable-objects'
import { StoreError } from 'headgate/store'
import { chargeOne, part } from '../../../../src/testing/conformance/store-calls.js'

const three = consecutive({ limit: 3 })

/** A request that an object has got. */
interface Sent {
  readonly object: string
  readonly url: string
  readonly body: { readonly headgate?: string }
}

/** A namespace whose objects fail after they have noted their requests. */
function failingObjects(error: unknown = new Error('the object was reset')) {
  const sent: Sent[] = []
  const namespace = {
    stubs: 0,
    hints: [] as unknown[],
    idFromName: (name: string) => ({ name }),
    get(id: { name: string }, options: object) {
      namespace.stubs++
      namespace.hints.push(options)
      return {
        async fetch(url: string, { body }: { body: string }): Promise<never> {
          sent.push({ object: id.name, url, body: JSON.parse(body) })
          throw error
        },
      }
    },
  }
  return { sent, namespace }
}

const identities = Array.from({ length: 4000 }, (_, i) => `10.${i >> 8}.${i & 255}.7`)

describe('the object of a key', () => {
  const objectsOf = (keys: readonly string[], options?: DurableObjectsStoreOptions) => {
    const { serverOf } = durableObjectsStore(failingObjects().namespace, options)
    return keys.map((key) => serverOf?.(key))
  }

  test('is that of the identity in it, whatever stands before', () => {
    const ofLimit = (scope: string) => identities.map((identity) => `${scope}:{${identity}}`)
    expect(objectsOf(ofLimit('hg:3:api:tb'))).toEqual(objectsOf(ofLimit('hg:3:login/account:sw-1000-4')))
  })

  test.each([1, 16, 100])('is one of %i objects, which have about as many keys each', (shards) => {
    const objects = objectsOf(
      identities.map((identity) => `hg:3:api:tb:{${identity}}`),
      { shards },
    )
    const counts = new Map<unknown, number>()
    for (const object of objects) counts.set(object, (counts.get(object) ?? 0) + 1)
    expect(counts.size).toBe(shards)
    const even = identities.length / shards
    for (const count of counts.values()) expect(Math.abs(count - even)).toBeLessThan(5 * Math.sqrt(even) + 1)
  })

  test('is the same for half of the identities after the number of objects has doubled', () => {
    const before = objectsOf(identities, { shards: 16 })
    const after = objectsOf(identities, { shards: 32 })
    const kept = before.filter((object, i) => object === after[i]).length
    expect(Math.abs(kept / identities.length - 0.5)).toBeLessThan(0.05)
  })

  test('stays the same in later versions, since clients would start afresh', () => {
    const keys = ['hg:3:api:tb:{192.0.2.7}', 'hg:3:api:tb:{ada}', 'no identity', '']
    expect(objectsOf(keys)).toEqual(['limits-3', 'limits-3', 'limits-3', 'limits-5'])
  })
})

test('a charge of several limits of one identity is one request', async () => {
  const { sent, namespace } = failingObjects()
  const store = durableObjectsStore(namespace)
  const parts = [
    part('hg:3:api/burst:tb:{ada}', tokenBucket({ capacity: 5, refill: 5, every: '1s' })),
    part('hg:3:api/daily:sw-60000-4:{ada}', slidingWindow({ limit: 5, window: '1m', slices: 4 })),
  ] as const
  await expect(chargeOne(store, ...parts)).rejects.toThrow(StoreError)
  expect(sent).toHaveLength(1)
})

test('a call that failed is not repeated, and the next one uses a new stub', async () => {
  const overloaded = Object.assign(new Error('Durable Object is overloaded.'), {
    overloaded: true,
    retryable: true,
  })
  const { sent, namespace } = failingObjects(overloaded)
  const store = durableObjectsStore(namespace)
  for (const calls of [1, 2]) {
    const failure = await chargeOne(store, part('a', three)).catch((error: unknown) => error)
    expect(failure).toMatchObject({
      message: 'durable-objects: Durable Object is overloaded.',
      cause: overloaded,
      unsent: false,
      replied: false,
    })
    expect({ sent: sent.length, stubs: namespace.stubs }).toEqual({ sent: calls, stubs: calls })
  }
})

test('options reach the objects', async () => {
  const { sent, namespace } = failingObjects()
  const store = durableObjectsStore(namespace, { writeDelay: '2s', locationHint: 'weur' })
  await expect(chargeOne(store, part('a', three))).rejects.toThrow('the object was reset')
  expect(sent.map(({ url }) => url)).toEqual(['https://headgate/?writeDelay=2000'])
  expect(namespace.hints).toEqual([{ locationHint: 'weur' }])
})

test('all documents are in one object', async () => {
  const { sent, namespace } = failingObjects()
  const { documents } = durableObjectsStore(namespace)
  await expect(documents?.read([{ key: 'a' }, { key: 'b' }])).rejects.toThrow(StoreError)
  await expect(documents?.replace('c', 'text', undefined)).rejects.toThrow(StoreError)
  expect(sent.map(({ object, body }) => [object, body.headgate])).toEqual([
    ['documents', 'documents'],
    ['documents', 'documents'],
  ])
})

test('a namespace may come later, and an error says where it is missing', async () => {
  const { sent, namespace } = failingObjects()
  let found: ObjectNamespace | undefined
  const store = durableObjectsStore(() => found as ObjectNamespace)
  await expect(chargeOne(store, part('a', three))).rejects.toThrow(
    'namespace must be a Durable Objects binding, got undefined. Write durableObjectsStore(env.LIMITS), and bind',
  )
  found = namespace
  await expect(chargeOne(store, part('a', three))).rejects.toThrow('the object was reset')
  expect(sent).toHaveLength(1)
})

const { namespace: anyObjects } = failingObjects()

test.each<[string, unknown, unknown, string]>([
  [
    'no namespace',
    undefined,
    {},
    'durableObjectsStore: namespace must be a Durable Objects binding, got undefined',
  ],
  ['env', { LIMITS: anyObjects }, {}, 'namespace must be a Durable Objects binding'],
  ['no objects', anyObjects, { shards: 0 }, 'durableObjectsStore: shards must be'],
  ['too many objects', anyObjects, { shards: 1025 }, 'durableObjectsStore: shards must be'],
  [
    'a long delay',
    anyObjects,
    { writeDelay: '11s' },
    "durableObjectsStore: writeDelay must be at most '10s'",
  ],
  ['no place', anyObjects, { locationHint: '' }, 'durableObjectsStore: locationHint must be a string'],
  ['an unknown option', anyObjects, { shard: 4 }, 'Did you mean shards?'],
])('%s is an error that says what to write', (_, namespace, options, message) => {
  const make = () => durableObjectsStore(namespace as ObjectNamespace, options as DurableObjectsStoreOptions)
  expect(make).toThrow(TypeError)
  expect(make).toThrow(message)
})

test('limitsObject takes kinds of policies, and not the policies', () => {
  expect(() => limitsObject(tokenBucket as never)).toThrow(
    'limitsObject: each argument must be a policy kind, got a function. Write limitsObject(tokenBucketKind)',
  )
})
