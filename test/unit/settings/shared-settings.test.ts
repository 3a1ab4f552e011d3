import { memoryStore, type Store, StoreError } from 'headgate'
import { customStore, type Documents } from 'headgate/store'
import { sharedSettings } from '../../../src/settings/shared-settings.js'

const ada = { by: 'ada', reason: 'a launch' }
const limit = (units: number) => ({ limit: units, window: '1m' })

/** A memory store whose documents a test stands before. */
function storeWith(overrides: (documents: Documents) => Partial<Documents>): Store {
  const store = memoryStore()
  const documents = store.documents as Documents
  return { ...store, documents: { ...documents, ...overrides(documents) } }
}

test('an unwritten document is empty, and has no changes', async () => {
  const settings = sharedSettings(memoryStore())
  expect(await settings.read('api')).toEqual({ limits: {}, overrides: [] })
  expect(await settings.changes('api')).toEqual([])
})

test('a change resolves with the next document, which all settings on the store read', async () => {
  const store = memoryStore()
  const settings = sharedSettings(store)
  const next = await settings.change('api', (document) => ({ ...document, mode: 'report' }), ada)
  expect(next).toEqual({ mode: 'report', limits: {}, overrides: [] })
  await settings.change('api', (document) => ({ ...document, limits: { api: limit(5) } }), ada)
  expect(await sharedSettings(store).read('api')).toEqual({
    mode: 'report',
    limits: { api: limit(5) },
    overrides: [],
  })
  expect(await settings.read('login')).toEqual({ limits: {}, overrides: [] })
  expect(await sharedSettings(store, { prefix: 'other' }).read('api')).toEqual({ limits: {}, overrides: [] })
})

test('edit may be async, may change its copy, and may give a Date', async () => {
  const settings = sharedSettings(memoryStore())
  const until = new Date(Date.now() + 60_000)
  await settings.change(
    'api',
    async (document) => {
      document.overrides.push({ identity: 'acme', exempt: true, until: until as unknown as string })
      return document
    },
    ada,
  )
  expect((await settings.read('api')).overrides).toEqual([
    { identity: 'acme', exempt: true, until: until.toISOString() },
  ])
})

test('an override that has ended is removed by the next change', async () => {
  const settings = sharedSettings(memoryStore())
  const until = Date.now() + 60_000
  await settings.change('api', () => ({ overrides: [{ identity: 'acme', exempt: true, until }] }), ada)
  jest.spyOn(Date, 'now').mockReturnValue(until)
  expect((await settings.change('api', (document) => document, ada)).overrides).toEqual([])
  jest.restoreAllMocks()
})

test('the last 100 changes are kept, the newest first', async () => {
  const settings = sharedSettings(memoryStore())
  const beforeMs = Date.now()
  for (let i = 0; i < 105; i++)
    await settings.change('api', (document) => document, { by: 'ada', reason: `change ${i}` })
  const changes = await settings.changes('api')
  expect(changes).toHaveLength(100)
  expect(changes[0]).toEqual({
    id: expect.stringMatching(/^[\da-f-]{36}$/),
    by: 'ada',
    reason: 'change 104',
    atMs: expect.any(Number),
    parts: [],
    partCount: 0,
  })
  expect(changes[99]?.reason).toBe('change 5')
  expect(changes[0]?.atMs).toBeGreaterThanOrEqual(beforeMs)
})

test('concurrent changes, of one process and of several, lose nothing', async () => {
  const store = memoryStore()
  const documents = store.documents as Documents
  const processes = Array.from({ length: 4 }, () => sharedSettings({ ...store, documents: { ...documents } }))
  const names = Array.from({ length: 60 }, (_, i) => `tenant-${i}`)
  await Promise.all(
    names.map((identity, i) =>
      processes[i % 4]?.change(
        'api',
        (document) => ({ ...document, overrides: [...document.overrides, { identity, exempt: true }] }),
        ada,
      ),
    ),
  )
  const { overrides } = await sharedSettings(store).read('api')
  expect(overrides.map(({ identity }) => String(identity)).sort()).toEqual(names.sort())
})

test('ten thousand overrides fit', async () => {
  const settings = sharedSettings(memoryStore())
  const overrides = Array.from({ length: 10_000 }, (_, i) => ({
    identity: `tenant-${i}`,
    limits: { api: limit(100 + i) },
  }))
  await settings.change('api', (document) => ({ ...document, overrides }), ada)
  expect((await settings.read('api')).overrides).toHaveLength(10_000)
})

describe('a change changes nothing', () => {
  const settings = sharedSettings(memoryStore())
  afterEach(async () => expect(await settings.changes('api')).toEqual([]))

  test('if its document is not valid', async () => {
    const change = settings.change('api', () => ({ limits: { api: { limit: 0 } } }), ada)
    await expect(change).rejects.toThrow('settings: limits.api.limit must be a whole number of at least 1')
  })

  test('if edit returns nothing, or throws', async () => {
    await expect(settings.change('api', () => undefined as never, ada)).rejects.toThrow(
      'settings: the document must be an object, got undefined',
    )
    const failing = settings.change('api', () => Promise.reject(new Error('no')), ada)
    await expect(failing).rejects.toThrow('no')
    await expect(settings.change('api', 'report' as never, ada)).rejects.toThrow(
      'settings: edit must be a function or a document',
    )
  })

  test.each([
    [undefined, 'settings: by must be a string of 1 to 200 characters, got undefined'],
    [{ by: 'ada' }, 'settings: reason must be a string of 1 to 1000 characters, got undefined'],
    [{ by: ' ', reason: 'x' }, 'settings: by must be a string'],
  ])('if it says %j of who and why', async (origin, problem) => {
    await expect(settings.change('api', (document) => document, origin as never)).rejects.toThrow(problem)
  })

  test('if it is too large', async () => {
    const overrides = Array.from({ length: 1000 }, (_, i) => ({
      identity: `${'x'.repeat(1000)}${i}`,
      exempt: true as const,
    }))
    const change = settings.change('api', (document) => ({ ...document, overrides }), ada)
    await expect(change).rejects.toThrow('settings: the document must be at most 1000000 characters')
  })

  test('if the name is not a valid limiter name', async () => {
    await expect(settings.change('a b', (document) => document, ada)).rejects.toThrow(
      'settings: name must be',
    )
  })
})

test('a change whose reply was lost is made once', async () => {
  let losses = 2
  const store = storeWith(({ replace }) => ({
    async replace(...args) {
      const isWritten = await replace(...args)
      if (losses-- > 0) throw new StoreError('memory', 'the connection was lost before the reply arrived')
      return isWritten
    },
  }))
  const settings = sharedSettings(store)
  let edits = 0
  const edit = (document: { overrides: object[] }) => {
    edits++
    return { overrides: [...document.overrides, { identity: 'acme', exempt: true as const }] }
  }
  const next = await settings.change('api', edit as never, ada)
  expect(next.overrides).toHaveLength(1)
  expect(edits).toBe(1)
  expect(await settings.changes('api')).toHaveLength(1)
})

test('a change with the id of an earlier one is not made again', async () => {
  const settings = sharedSettings(memoryStore())
  const origin = { ...ada, id: 'order-7' }
  await settings.change('api', { mode: 'report' }, origin)
  expect(await settings.change('api', { mode: 'enforce' }, origin)).toMatchObject({ mode: 'report' })
  expect((await settings.changes('api')).map(({ id }) => id)).toEqual(['order-7'])
  const change = settings.change('api', {}, { ...ada, id: 'order 8' })
  await expect(change).rejects.toThrow('settings: id must be 1 to 64 letters, digits, dots, dashes')
})

test('an error that the store replied rejects at once', async () => {
  const store = storeWith(() => ({
    replace: async () => {
      throw new StoreError('memory', 'READONLY', { replied: true })
    },
  }))
  await expect(sharedSettings(store).change('api', (document) => document, ada)).rejects.toThrow('READONLY')
})

test('a stored text that is not a document rejects with its fix', async () => {
  const store = memoryStore()
  const settings = sharedSettings(store)
  await store.documents?.replace('hg:settings:api', '{', undefined)
  await store.documents?.replace('hg:settings:login', '{"limits":{}}', undefined)
  await expect(settings.read('api')).rejects.toThrow(
    'settings: the document must be valid JSON, got a syntax error',
  )
  await expect(settings.read('login')).rejects.toThrow('Write it with settings.change.')
})

test.each([
  [undefined, {}, 'sharedSettings: store must be a store, got undefined'],
  [customStore({ name: 'mine', apply: () => [] }), {}, 'store must support documents, but mine does not'],
  [memoryStore(), { prefix: 'a b' }, 'sharedSettings: prefix must be 1 to 64 letters'],
  [memoryStore(), { every: '1s' }, 'sharedSettings: there is no option "every"'],
])('wrong arguments are named', (store, options, problem) => {
  expect(() => sharedSettings(store as never, options as never)).toThrow(problem)
})
