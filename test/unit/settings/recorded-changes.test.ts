import { memoryStore, type SettingsDocument, type Store, sharedSettings } from 'headgate'
import { partsWithin, type StoredChange } from '../../../src/settings/history.js'
import { ada, fragileStore, KEY } from './fragile-store.js'

const settings = () => sharedSettings(memoryStore())
const limit = (units: number) => ({ limit: units })
const exempt = (identity: string, until?: number) => ({
  identity,
  exempt: true as const,
  ...(until !== undefined && { until }),
})

afterEach(() => jest.restoreAllMocks())

/** The parts of the last change. */
const lastParts = async (of: ReturnType<typeof sharedSettings>) => (await of.changes('api'))[0]?.parts

test('a change says what it added, replaced and removed, by path', async () => {
  const shared = settings()
  await shared.change(
    'api',
    () => ({
      limits: { api: limit(1), login: limit(2) },
      overrides: [exempt('acme'), { network: '10.0.0.0/8', block: true }],
    }),
    ada,
  )
  await shared.change(
    'api',
    () => ({
      mode: 'report',
      limits: { api: limit(3), login: limit(2) },
      candidate: { limits: { api: limit(4) } },
      overrides: [{ network: '10.0.0.0/8', exempt: true }, exempt('eve')],
    }),
    ada,
  )
  expect(await lastParts(shared)).toEqual([
    { path: 'limits.api', before: limit(1), after: limit(3) },
    { path: 'overrides[identity="acme"]', before: exempt('acme') },
    {
      path: 'overrides[network="10.0.0.0/8"]',
      before: { network: '10.0.0.0/8', block: true },
      after: { network: '10.0.0.0/8', exempt: true },
    },
    { path: 'mode', after: 'report' },
    { path: 'candidate', after: { limits: { api: limit(4) } } },
    { path: 'overrides[identity="eve"]', after: exempt('eve') },
  ])
})

test('the order of overrides and of their fields, and the spelling of a target, are no change', async () => {
  const shared = settings()
  const first = { identity: ['acme'], exempt: true as const }
  await shared.change('api', { overrides: [first, { network: '::ffff:10.0.0.0/104', block: true }] }, ada)
  await shared.change('api', { overrides: [{ block: true, network: '::ffff:10.0.0.0/104' }, first] }, ada)
  expect(await lastParts(shared)).toEqual([])
  await shared.change('api', { overrides: [exempt('acme'), { network: '10.0.0.0/8', block: true }] }, ada)
  expect((await lastParts(shared))?.map(({ path }) => path)).toEqual([
    'overrides[network="10.0.0.0/8"]',
    'overrides[identity="acme"]',
  ])
})

test('paths of different targets differ', async () => {
  const shared = settings()
  const identities = ['["a","b"]', ['a', 'b'], 'a"b', 'a', 'b']
  const overrides = identities.map((identity) => ({ identity, exempt: true as const }))
  await shared.change('api', { overrides }, ada)
  const paths = (await lastParts(shared))?.map(({ path }) => path)
  expect(new Set(paths).size).toBe(identities.length)
})

test('an override that has ended is no part of the change that drops it', async () => {
  const shared = settings()
  const until = Date.now() + 60_000
  await shared.change('api', { overrides: [exempt('acme', until)] }, ada)
  jest.spyOn(Date, 'now').mockReturnValue(until)
  await shared.change('api', (document) => ({ ...document, mode: 'report' }), ada)
  expect((await shared.read('api')).overrides).toEqual([])
  expect(await lastParts(shared)).toEqual([{ path: 'mode', after: 'report' }])
})

test('a change with more parts than are kept says how many it changed', async () => {
  const shared = settings()
  const overrides = Array.from({ length: 2000 }, (_, i) => exempt(`${'x'.repeat(150)}${i}`))
  await shared.change('api', (document) => ({ ...document, mode: 'report' }), ada)
  await shared.change('api', (document) => ({ ...document, overrides }), ada)
  const [large, small] = await shared.changes('api')
  expect([large?.partCount, large?.parts]).toEqual([2000, undefined])
  expect(small?.parts).toHaveLength(1)
})

test('a store keeps once what a change set alike for many, and readers get every part', async () => {
  const { store, textOf } = fragileStore()
  const shared = sharedSettings(store)
  const many = (i: number, limits: number) => ({
    identity: `${'x'.repeat(200)}${i}`,
    limits: { api: limit(limits) },
    until: '2100-01-01T00:00:00.000Z',
  })
  const before = Array.from({ length: 1000 }, (_, i) => many(i, 1 + (i % 2)))
  const after = before.map(({ identity }, i) => (i % 2 ? exempt(identity) : many(i, 9)))
  await shared.change('api', { overrides: [...before, { network: '10.0.0.0/8', block: true }] }, ada)
  await shared.change('api', { overrides: after }, ada)
  const { changes: stored } = JSON.parse(await textOf())
  expect([stored[0].parts.length, stored[1].parts]).toEqual([3, undefined]) // no room for both
  const [last] = await sharedSettings({ ...store, documents: { ...store.documents } } as Store).changes('api')
  const byPath = new Map(last?.parts?.map((part) => [part.path, part]))
  const expected = before.map((each, i) => {
    const path = `overrides[identity="${each.identity}"]`
    return [path, { path, before: each, after: after[i] }] as const
  })
  const network = 'overrides[network="10.0.0.0/8"]'
  expect(byPath).toEqual(
    new Map<string, object>([
      ...expected,
      [network, { path: network, before: { network: '10.0.0.0/8', block: true } }],
    ]),
  )
})

test('differences never take the room of a document', async () => {
  const { store, textOf } = fragileStore()
  const shared = sharedSettings(store)
  const overrides = Array.from({ length: 940 }, (_, i) => exempt(`${'x'.repeat(1000)}${i}`))
  await shared.change('api', { overrides }, ada)
  for (let i = 0; i < 6; i++) {
    const added = Array.from({ length: 3 }, (_, j) => exempt(`${i}${'y'.repeat(900)}${j}`))
    await shared.change('api', { overrides: [...overrides, ...added] }, ada)
  }
  const kept = (await shared.changes('api')).map(({ parts }) => parts !== undefined)
  expect((await textOf()).length).toBeLessThanOrEqual(1_000_000)
  expect(kept).toEqual([true, true, true, true, false, false, false])
})

test('the newest changes keep their parts, within 300,000 bytes of UTF-8', () => {
  const change = (i: number): StoredChange => ({
    ...ada,
    id: String(i),
    atMs: i,
    parts: [{ path: 'mode', after: { identity: 'é'.repeat(27_000), exempt: true } }],
    partCount: 1,
  })
  const kept = partsWithin([0, 1, 2, 3, 4, 5, 6].map(change), Number.POSITIVE_INFINITY)
  expect(kept.map(({ parts }) => parts?.length)).toEqual([1, 1, 1, 1, 1, undefined, undefined])
  expect(kept.map(({ partCount }) => partCount)).toEqual(kept.map(() => 1))
})

test('callers get copies, which they may change', async () => {
  const shared = settings()
  await shared.change('api', { overrides: [exempt('acme')] }, ada)
  const [change] = await shared.changes('api')
  const after = change?.parts?.[0]?.after as { exempt?: boolean }
  after.exempt = false
  const current = await shared.readWithChanges('api')
  current.document.overrides.length = 0
  expect((await shared.readWithChanges('api')).document.overrides).toEqual([exempt('acme')])
  expect(await lastParts(shared)).toEqual([{ path: 'overrides[identity="acme"]', after: exempt('acme') }])
})

describe('the history of another version', () => {
  /** Changes a document as a process of an earlier version does, which records no parts. */
  async function changeAsBefore(store: Store, edit: (document: SettingsDocument) => SettingsDocument) {
    const [found] = (await store.documents?.read([{ key: KEY }])) ?? []
    const { document, changes, ...others } = JSON.parse(found?.text ?? '')
    const change = { ...ada, atMs: 5, id: 'earlier' }
    const text = JSON.stringify({ document: edit(document), changes: [change, ...changes], ...others })
    await store.documents?.replace(KEY, text, found?.version)
  }

  test('stays readable, and keeps what this version recorded', async () => {
    const { store } = fragileStore()
    const shared = sharedSettings(store)
    await shared.change('api', { mode: 'report' }, ada)
    await changeAsBefore(store, (document) => ({ ...document, limits: { api: limit(7) } }))
    await shared.change('api', (document) => ({ ...document, mode: 'enforce' }), ada)
    const changes = await shared.changes('api')
    expect(changes.map(({ parts }) => parts?.map(({ path }) => path))).toEqual([
      ['mode'],
      undefined,
      ['mode'],
    ])
    expect(changes[1]).toEqual({ ...ada, atMs: 5, id: 'earlier' })
  })

  test.each([
    ['parts', 'mode'],
    ['parts', [5]],
    ['parts', [{ path: 5 }]],
    ['parts', [{ kind: 'identity', targets: [5], after: { exempt: true } }]],
    ['parts', [{ kind: '__proto__', targets: ['acme'], after: { exempt: true } }]],
    ['parts', [{ kind: 'identity', targets: ['acme'], after: 5 }]],
    ['partCount', 'many'],
    ['undoes', 5],
  ])('is read without %s if that is %j', async (field, value) => {
    const { store, textOf, overwrite } = fragileStore()
    const shared = sharedSettings(store)
    await shared.change('api', { mode: 'report' }, ada)
    const { changes, ...others } = JSON.parse(await textOf())
    await overwrite(JSON.stringify({ ...others, changes: [{ ...changes[0], [field]: value }] }))
    expect(
      await sharedSettings({ ...store, documents: { ...store.documents } } as Store).changes('api'),
    ).toEqual([{ ...ada, id: changes[0].id, atMs: changes[0].atMs }])
  })
})
