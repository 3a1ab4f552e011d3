import { type Capabilities, storeConformance, storeExactness } from 'headgate/testing'
import { describeStoreConformance, sampleOf } from '../../support/store-conformance.js'
import { mapStore } from './map-store.js'
import { MISTAKES } from './mistakes.js'

const capabilities: Capabilities = { settableClock: true, anyKey: true, atomicAcrossKeys: true }

describeStoreConformance('a store that drops states as early as it may', {
  makeStore: () => mapStore(),
  capabilities,
})

test.each(Object.entries(MISTAKES))('a store that %s fails', async (_mistake, { shownBy, breakIt }) => {
  const cases = storeConformance({ makeStore: () => mapStore(breakIt), capabilities })
  const shown = cases.find(({ name }) => name === shownBy)
  if (shown === undefined) throw new Error(`There is no case ${shownBy}`)
  await expect(shown.run()).rejects.toThrow()
})

describe('a failed case', () => {
  const messageOf = async (name: string) => {
    const { breakIt } = MISTAKES[name] ?? {}
    const cases = storeConformance({ makeStore: () => mapStore(breakIt), capabilities })
    const shown = cases.find((each) => each.name === MISTAKES[name]?.shownBy)
    return shown?.run().then(String, (error: Error) => error.message)
  }

  test('says what was expected, in which case, and shows the difference', async () => {
    expect(await messageOf('charges a peek as one unit')).toMatch(
      /^step 1, a charge of 0 of key: the result of the policy\nExpected values to be strictly deep-equal:\n[\s\S]*\+ +remaining: 4,[\s\S]*- +remaining: 5,/,
    )
  })

  test('shows a verdict that is none', async () => {
    expect(await messageOf('returns verdicts without figures')).toMatch(
      /^apply\(\) must return results such as { type, allowed, atMs, parts }.* For a charge, it returned:\n{ type: 'charge', allowed: true, atMs: \d+, parts: \[\] }$/,
    )
  })
})

test('names are unique, and capabilities choose the cases', () => {
  const namesWith = (stated: Partial<Capabilities>) => {
    const setup = { makeStore: () => mapStore(), capabilities: { ...capabilities, ...stated } }
    return storeConformance(setup).map(({ name }) => name)
  }
  const all = namesWith({})
  expect(new Set(all).size).toBe(all.length)
  const without = (stated: Partial<Capabilities>) => {
    const kept = new Set(namesWith(stated))
    return all.filter((name) => !kept.has(name))
  }
  expect(without({ anyKey: false })).toEqual(['the awkward keys of all are all distinct'])
  expect(without({ atomicAcrossKeys: false })).toEqual([
    'charges that name the same keys in opposite order, all at once, are exact',
    'on random traces whose charges name each key at most once, every figure equals that of a plain model',
    'on random traces whose charges name a key several times, every figure equals that of a plain model',
  ])
  expect(without({ settableClock: false })).toHaveLength(8)
})

test('a sample has each sentence of the contract once, and every policy several times', () => {
  const cases = storeConformance({ makeStore: () => mapStore(), capabilities })
  const names = sampleOf(cases).map(({ name }) => name)
  const policies = [
    'tokenBucket',
    'slidingWindow',
    'fixedWindow',
    'consecutive',
    'from the first request',
    'quota',
  ]
  for (const policy of policies)
    expect(names.filter((name) => name.includes(policy)).length).toBeGreaterThanOrEqual(5)
  for (const end of [
    'takes every part when all allow',
    'frees a client at its limit',
    'leaves other keys alone',
  ])
    expect(names.filter((name) => name.endsWith(end))).toHaveLength(1)
  expect(names.length).toBeLessThan(cases.length / 3)
})

test('a sample has sentences that name two policies once', () => {
  const startProcess = () => {
    throw new Error('No test runs here.')
  }
  const cases = storeExactness({ startProcess, capabilities: { atomicAcrossKeys: true } })
  const names = sampleOf(cases).map(({ name }) => name)
  expect(names.filter((name) => name.includes('opposite orders all or nothing'))).toHaveLength(1)
  expect(names).toHaveLength(6)
})

test.each([
  [undefined, 'storeConformance: options must be an object, got undefined'],
  [{ capabilities }, 'storeConformance: makeStore must be a function, got undefined.'],
  [
    { makeStore: mapStore },
    'capabilities must be an object that states settableClock, anyKey, atomicAcrossKeys, got undefined.',
  ],
  [
    { makeStore: mapStore, capabilities: { ...capabilities, anyKey: undefined } },
    'storeConformance capabilities: anyKey must be true or false, got undefined. State each capability',
  ],
  [{ makeStore: mapStore, capabilities: { ...capabilities, anykey: true } }, 'anykey'],
  [{ makeStore: mapStore, capabilities, store: {} }, 'store'],
])('a wrong set-up is an error: %j', (setup, message) => {
  expect(() => storeConformance(setup as never)).toThrow(message)
})

test.each([
  [{}, 'makeStore: store must be an object with name and apply, got undefined.'],
  [{ store: { name: 'half', charge() {} } }, 'makeStore: store must be an object with name and apply'],
  [
    { store: mapStore().store },
    'makeStore: advance must be a function, got undefined. Write makeStore: () => ({',
  ],
])('what makeStore returns is checked: %j', async (made, message) => {
  const [first] = storeConformance({ makeStore: () => made as never, capabilities })
  await expect(first?.run()).rejects.toThrow(message)
})

test('every store is closed, also after a failure', async () => {
  let open = 0
  const makeStore = () => {
    open++
    return { ...mapStore(MISTAKES['forgets nothing']?.breakIt), close: () => void open-- }
  }
  for (const { run } of storeConformance({ makeStore, capabilities })) await run().catch(() => undefined)
  expect(open).toBe(0)
})
