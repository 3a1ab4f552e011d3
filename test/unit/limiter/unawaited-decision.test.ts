import { inspect, types } from 'node:util'
import { createLimiter, type Decision, memoryStore, type Store } from 'headgate'
import { customStore } from 'headgate/store'
import { forgetWarnings } from '../../../src/util/warn-once.js'

let warnings: string[]

beforeEach(() => {
  forgetWarnings()
  warnings = []
  jest.spyOn(process, 'emitWarning').mockImplementation((message, options) => {
    if ((options as { code?: string }).code === 'HEADGATE_NOT_AWAITED') warnings.push(String(message))
  })
})
afterEach(() => jest.restoreAllMocks())

/** A store that replies later, as a server does. */
function remoteStore(): Store {
  const { apply } = memoryStore()
  return customStore({ name: 'remote', apply: async (operations) => apply(operations) })
}

const limiterOn = (store: Store) =>
  createLimiter<string>({ name: 'api', limit: 2, window: '1h', key: (id) => id, store })

/** A decision that was not awaited, as untyped code has it. */
const unawaited = (promise: unknown) => promise as Decision & Promise<Decision>

test.each([
  'allowed',
  'limit',
  'remaining',
  'resetAfterMs',
  'retryAfterMs',
  'moreAfterMs',
  'limitName',
  'parts',
  'source',
] as const)(
  'reading %s of a promise is undefined, and a warning with its place and the fix',
  async (name) => {
    const limiter = limiterOn(remoteStore())
    for (const promise of [limiter.charge('a'), limiter.peek('a'), limiter.waitFor('a')]) {
      forgetWarnings()
      expect(unawaited(promise)[name]).toBeUndefined()
      expect(await promise).toHaveProperty(name)
    }
    expect(warnings).toHaveLength(3)
    expect(warnings[0]).toMatch(
      new RegExp(
        `^headgate: ${name} was read from a promise, at .*unawaited-decision\\.test\\.ts:\\d+:\\d+\\)?, so it is always undefined\\. Write \\(await limiter\\.charge\\(subject\\)\\)\\.${name}\\.`,
      ),
    )
  },
)

test('destructuring without await is the same mistake, reported once', () => {
  const limiter = limiterOn(remoteStore())
  const { allowed, retryAfterMs } = unawaited(limiter.charge('a'))
  expect([allowed, retryAfterMs]).toEqual([undefined, undefined])
  expect(warnings).toHaveLength(1)
})

test('what awaits, shows, copies or compares the promise reads no field', async () => {
  const limiter = limiterOn(remoteStore())
  const promise = unawaited(limiter.charge('a'))
  expect(promise).toBeInstanceOf(Promise)
  expect(types.isPromise(promise)).toBe(true)
  expect(Promise.resolve(promise)).toBe(promise)
  expect(inspect(promise)).toMatch(/^Promise \{\s+<pending>/)
  expect(inspect(promise, { showHidden: true, depth: 5 })).toContain('Promise {')
  expect(JSON.stringify({ promise })).toBe('{"promise":{}}')
  expect(Object.keys(promise)).toEqual([])
  expect(String(promise)).toBe('[object Promise]')
  expect(() => structuredClone(promise)).toThrow('could not be cloned')
  expect(promise).toEqual(promise)
  expect(promise).not.toEqual({ allowed: true })
  await expect(promise).resolves.toMatchObject({ allowed: true, remaining: 1 })
  const [one, other] = await Promise.all([promise, promise.then((decision) => decision)])
  expect(one).toBe(other)
  expect(await promise.finally(() => undefined)).toBe(one)
  expect(await Promise.race([promise, new Promise(() => undefined)])).toBe(one)
  expect(warnings).toEqual([])
})

test('a field that other code sets on the promise is that value', async () => {
  const promise = unawaited(limiterOn(remoteStore()).charge('a'))
  Object.assign(promise, { limit: 5 })
  expect(promise.limit).toBe(5)
  expect(await promise).toMatchObject({ limit: 2 })
  expect(warnings).toEqual([])
})

test('awaiting takes as many turns as for any promise', async () => {
  const order: string[] = []
  const promise = limiterOn(remoteStore()).charge('a')
  await promise
  await Promise.all([
    (async () => {
      await promise
      order.push('decision')
    })(),
    (async () => {
      await Promise.resolve()
      order.push('other')
    })(),
  ])
  expect(order).toEqual(['decision', 'other'])
})

test('a decision in memory that is not awaited is the same mistake, and promises of others are none', async () => {
  const limiter = limiterOn(memoryStore())
  expect(unawaited(Promise.resolve()).allowed).toBeUndefined()
  expect(warnings).toEqual([])
  const promise = limiter.charge('a')
  expect(unawaited(promise).allowed).toBeUndefined()
  expect(warnings).toHaveLength(1)
  expect(await promise).toMatchObject({ allowed: true })
})

test('a charge that throws rejects, and its promise is watched as well', async () => {
  const promise = limiterOn(memoryStore()).charge('a', { cost: -1 })
  expect(unawaited(promise).allowed).toBeUndefined()
  expect(warnings).toHaveLength(1)
  await expect(promise).rejects.toThrow('createLimiter: cost must be')
})

test('only the first promises of a limiter are watched, since watching makes them slower to await', async () => {
  const limiter = limiterOn(remoteStore())
  const prototypes: unknown[] = []
  for (let i = 0; i < 40; i++) {
    const promise = limiter.charge(`client ${i}`)
    prototypes.push(Object.getPrototypeOf(promise))
    await promise
  }
  expect(prototypes.slice(0, 20)).not.toContain(Promise.prototype)
  expect(prototypes.slice(20)).toEqual(Array(20).fill(Promise.prototype))
  expect(warnings).toEqual([])
})
