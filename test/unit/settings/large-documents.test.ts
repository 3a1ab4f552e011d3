import { createLimiter, fixedWindow, memoryStore, type SettingsOverride, sharedSettings } from 'headgate'
import type { Documents } from 'headgate/store'
import { EMBEDDINGS } from '../../../src/keys/embedded-ipv4.js'
import { documentSteps } from '../../../src/settings/read-document.js'
import { ruleMaker } from '../../../src/settings/rules.js'
import { atOnce } from '../../../src/util/slices.js'
import { chargeNow } from '../../support/charge-now.js'

const MOST = 10_000
const COUNT = 3000
const ada = { by: 'ada', reason: 'a test' }

const overrides = Array.from({ length: COUNT }, (_, i): SettingsOverride => {
  if (i % 3 === 0) return { network: `10.${i >> 8}.${i & 255}.0/24`, block: true }
  if (i % 3 === 1) return { identityPrefix: `trial-${i}-`, exempt: true }
  return { identity: `tenant-${i}`, limits: { api: { limit: 100 + i } } }
})

/** Values that record which of their properties were read. */
function watched(values: readonly object[]) {
  const read = new Set<number>()
  const proxies = values.map(
    (value, i) =>
      new Proxy(value, {
        get(target, name) {
          read.add(i)
          return Reflect.get(target, name)
        },
        ownKeys(target) {
          read.add(i)
          return Reflect.ownKeys(target)
        },
      }),
  )
  return { proxies, read }
}

test('too many overrides are counted, and not looked at', () => {
  const { proxies, read } = watched(Array.from({ length: MOST + 1 }, () => ({ identity: 5 })))
  expect(() => atOnce(documentSteps({ overrides: proxies }, 0))).toThrow(
    'settings: overrides must be an array of at most 10000 overrides, got an array of 10001',
  )
  expect(read.size).toBe(0)
})

test('once an error is full, no more overrides are looked at', () => {
  const { proxies, read } = watched(
    Array.from({ length: COUNT }, (_, i) => ({ identity: `a${i}`, exempt: 1 })),
  )
  expect(() => atOnce(documentSteps({ overrides: proxies }, 0))).toThrow('settings: 10 options are wrong')
  expect(read.size).toBe(10)
})

test('too many overrides that an edit returns are not even copied', async () => {
  const toJSON = jest.fn()
  const given = Array.from({ length: MOST + 1 }, () => ({ toJSON }))
  const change = sharedSettings(memoryStore()).change('api', () => ({ overrides: given as never }), ada)
  await expect(change).rejects.toThrow('settings: overrides must be an array of at most 10000 overrides')
  expect(toJSON).not.toHaveBeenCalled()
})

test('too many limits are counted, but not read', () => {
  const look = jest.fn()
  const limits = {}
  for (let i = 0; i < COUNT; i++) Object.defineProperty(limits, `limit${i}`, { enumerable: true, get: look })
  for (const document of [{ limits }, { candidate: { limits } }, { overrides: [{ identity: 'a', limits }] }])
    expect(() => atOnce(documentSteps(document, 0))).toThrow('must be an object of at most 16 limits by name')
  expect(look.mock.calls.length).toBeLessThanOrEqual(COUNT) // the text of an override is read once
})

const unknown = Object.fromEntries(Array.from({ length: COUNT }, (_, i) => [`unknown${i}`, 1]))

test.each<[string, object]>([
  ['a document', unknown],
  ['an override', { overrides: [{ identity: 'a', exempt: true, ...unknown }] }],
  ['a limit', { limits: { api: unknown } }],
])('of many unknown options of %s, ten are named', (_what, document) => {
  expect(() => atOnce(documentSteps(document, 0))).toThrow(/"unknown8" and "unknown9" and 2990 more\./)
})

test('an error names ten of many limits that a limiter does not have', async () => {
  const store = memoryStore()
  const settings = sharedSettings(store)
  const limiter = createLimiter({ name: 'api', limit: 5, window: '1m', key: String, store, settings })
  const failures: string[] = []
  limiter.events.on('settingsFailed', ({ message }) => failures.push(message))
  const named = Array.from({ length: 30 }, (_, i) => ({
    identity: `a${i}`,
    limits: { [`limit${i}`]: { limit: 1 } },
  }))
  await settings.change('api', () => ({ overrides: named }), ada)
  expect(failures).toEqual([expect.stringContaining('does not have: limit0, limit1, limit2')])
  expect(failures[0]).toContain('limit9 and 20 more. Its limits are: api.')
  await limiter.close()
})

test('numbers that do not fit a limiter are found one override at a time', () => {
  const wrong = Array.from({ length: COUNT }, (_, i) => ({
    identity: `a${i}`,
    limits: { api: { policy: 'concurrency', limit: i + 1 } },
  }))
  const { proxies, read } = watched(atOnce(documentSteps({ overrides: wrong }, 0)).overrides)
  const steps = maker()({ limits: {}, overrides: proxies as SettingsOverride[] })
  steps.next()
  expect(read.size).toBe(1)
  expect(atOnce(steps).misfits).toHaveLength(COUNT)
})

function maker() {
  const policy = fixedWindow({ limit: 5, window: '1m' })
  const entries = [{ owner: 'test', entryName: 'api', policy, key: [String] }] as never
  return ruleMaker({ entries, name: 'api', embeddings: EMBEDDINGS, onUnfit: () => undefined })
}

test('each step looks at one override', () => {
  const { proxies, read } = watched(overrides)
  const steps = documentSteps({ overrides: proxies }, 0)
  for (let before = 0, step = steps.next(); !step.done; before = read.size, step = steps.next())
    expect(read.size - before).toBeLessThanOrEqual(1)
  const document = atOnce(documentSteps({ overrides }, 0))
  const rules = maker()(document)
  let count = 1
  while (!rules.next().done) count++
  expect(count).toBeGreaterThan(2 * COUNT) // each is made, and put into a table
})

test('what has not changed is neither checked nor made again', () => {
  const rulesOf = maker()
  const first = atOnce(documentSteps({ overrides: structuredClone(overrides) }, 0))
  const before = atOnce(rulesOf(first)).overrides
  const added: SettingsOverride = { identity: 'acme', limits: { api: { limit: 7 } } }
  const changed = [added, ...structuredClone(overrides).slice(1)]
  const second = atOnce(documentSteps({ overrides: changed }, 0, first))
  const after = atOnce(rulesOf(second)).overrides
  expect(second.overrides[0]).toBe(added)
  const isKept = ({ identity }: SettingsOverride) =>
    typeof identity !== 'string' ||
    after.ofIdentity(identity, identity) === before.ofIdentity(identity, identity)
  expect(second.overrides.slice(1).every((each, i) => each === first.overrides[i + 1])).toBe(true)
  expect(second.overrides.slice(1).every(isKept)).toBe(true)
  expect(after.ofIdentity('acme', 'acme')).toMatchObject({ policies: [{ limit: 7 }] })
})

test('while a large document is prepared, the one before decides, and then all of the new one at once', async () => {
  const store = memoryStore()
  const documents = store.documents as Documents
  const settings = sharedSettings(store)
  const policy = fixedWindow({ limit: 1000, window: '1h' })
  const limiter = createLimiter<string>({ name: 'api', policy, key: (id) => id, store, settings })
  await settings.change('api', () => ({ overrides: [{ identity: 'a', block: true }] }), ada)
  let isApplied = false
  limiter.events.once('settings', () => {
    isApplied = true
  })
  const seen = new Set<string>()
  const look = () => {
    const [a, b] = ['a', 'b'].map((id) => chargeNow(limiter, id).source)
    seen.add(`${a} ${b}`)
    if (!isApplied) setImmediate(look)
  }
  const [found] = await documents.read([{ key: 'hg:settings:api' }])
  const next = { overrides: [{ identity: 'b', block: true }, ...overrides.slice(1)] }
  await documents.replace('hg:settings:api', JSON.stringify({ document: next, changes: [] }), found?.version)
  await new Promise<void>((resolve) => {
    limiter.events.once('settings', () => resolve())
    look()
  })
  const last = ['a', 'b'].map((id) => chargeNow(limiter, id).source)
  expect(last).toEqual(['store', 'blocked'])
  expect([...seen].filter((each) => !['blocked store', 'store blocked'].includes(each))).toEqual([])
  expect(seen).toContain('blocked store')
  await limiter.close()
})
