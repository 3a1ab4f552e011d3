import { memoryStore, SettingsConflictError, type Store, StoreError, sharedSettings } from 'headgate'
import type { Documents } from 'headgate/store'
import { ada, fragileStore, KEY, scriptOn } from './fragile-store.js'

const bob = { by: 'bob', reason: 'a rollback' }
const acme = (until?: number) => ({
  identity: 'acme',
  block: true as const,
  ...(until !== undefined && { until }),
})

afterEach(() => jest.restoreAllMocks())

/** Settings in memory, the `id` of their last change, and the error of an undo. */
function edited(store: Store = memoryStore()) {
  const settings = sharedSettings(store)
  return {
    settings,
    set: (document: object) => settings.change('api', (now) => ({ ...now, ...document }), ada),
    lastId: async () => (await settings.changes('api'))[0]?.id ?? '',
    undo: (id: string) => settings.undo('api', id, bob),
    failure: (id: string) =>
      settings.undo('api', id, bob).then(
        () => undefined,
        (error) => error,
      ),
  }
}

test('restores what a change replaced, and nothing else', async () => {
  const { set, lastId, undo, settings } = edited()
  await set({ mode: 'report', limits: { api: { limit: 5 } }, overrides: [acme()] })
  await set({ mode: 'enforce', limits: { api: { limit: 9 }, login: { limit: 1 } }, overrides: [] })
  const id = await lastId()
  await set({ candidate: { limits: { api: { limit: 3 } } } })
  expect(await undo(id)).toEqual({
    mode: 'report',
    limits: { api: { limit: 5 } },
    candidate: { limits: { api: { limit: 3 } } },
    overrides: [acme()],
  })
  expect((await settings.changes('api'))[0]).toMatchObject({ ...bob, undoes: id, partCount: 4 })
})

test('an undo can be undone, again and again', async () => {
  const { set, lastId, undo } = edited()
  await set({ limits: { api: { limit: 5 } } })
  await set({ limits: { api: { limit: 9 } } })
  const limits: unknown[] = []
  for (let i = 0; i < 4; i++) limits.push((await undo(await lastId())).limits.api)
  expect(limits).toEqual([{ limit: 5 }, { limit: 9 }, { limit: 5 }, { limit: 9 }])
})

test('rejects if a part has changed since, and names it with the later change', async () => {
  const { set, lastId, failure, settings } = edited()
  await set({ limits: { api: { limit: 5 }, login: { limit: 1 } } })
  const id = await lastId()
  await settings.change('api', (now) => ({ ...now, limits: { ...now.limits, api: { limit: 7 } } }), {
    by: 'eve',
    reason: 'a sale',
  })
  const error = await failure(id)
  expect(error).toBeInstanceOf(SettingsConflictError)
  expect(error.message).toBe(
    'settings: the change cannot be undone, because of later changes: limits.api (by eve: "a sale"). ' +
      'Undo the later change first, or change the document.',
  )
  expect(error.parts).toEqual([
    {
      path: 'limits.api',
      before: { limit: 5 },
      theirs: { limit: 7 },
      change: expect.objectContaining({ by: 'eve', reason: 'a sale' }),
    },
  ])
  expect(error.changes).toEqual([expect.objectContaining({ by: 'eve' })])
  expect(await settings.changes('api')).toHaveLength(2)
})

test('the same change is not undone twice', async () => {
  const { set, lastId, undo, failure, settings } = edited()
  await set({ mode: 'report' })
  const id = await lastId()
  await undo(id)
  const error = await failure(id)
  expect(error).toBeInstanceOf(TypeError)
  expect(error.message).toBe(
    'settings: nothing of the change of ada ("a test") is left to undo, because bob ("a rollback") has undone it ' +
      'already. Leave it as it is.',
  )
  expect(await settings.changes('api')).toHaveLength(2)
})

test('a part that is as before already stands in the way of none of the others', async () => {
  const { set, lastId, undo } = edited()
  await set({ mode: 'report', limits: { api: { limit: 5 } } })
  const id = await lastId()
  await set({ mode: undefined })
  expect(await undo(id)).toEqual({ limits: {}, overrides: [] })
})

test('a value that was restored by hand is a later change also', async () => {
  const { set, lastId, failure } = edited()
  await set({ mode: 'report' })
  const id = await lastId()
  await set({ mode: 'enforce' })
  await set({ mode: 'report' })
  expect((await failure(id)).parts).toEqual([expect.objectContaining({ path: 'mode', theirs: 'report' })])
})

test('a change that was made without a record is recognized by its value', async () => {
  const { store, textOf, overwrite } = fragileStore()
  const { set, lastId } = edited(store)
  await set({ mode: 'report' })
  const id = await lastId()
  await overwrite((await textOf()).replace('"mode":"report"', '"mode":"enforce"'))
  const { failure } = edited({ ...store, documents: { ...store.documents } as Documents })
  expect((await failure(id)).parts).toEqual([{ path: 'mode', before: 'report', theirs: 'enforce' }])
})

describe('with overrides that have ended', () => {
  const until = Date.now() + 60_000
  const end = () => jest.spyOn(Date, 'now').mockReturnValue(until)

  test('nothing is left to undo of a change that only added them', async () => {
    const { set, lastId, failure } = edited()
    await set({ overrides: [acme(until)] })
    const id = await lastId()
    end()
    const error = await failure(id)
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).toContain('is left to undo, because its overrides have ended')
  })

  test('the rest of a change is undone, and what it replaced comes back', async () => {
    const { set, lastId, undo } = edited()
    await set({ overrides: [{ ...acme(), identity: 'eve' }, acme()] })
    await set({ mode: 'report', overrides: [acme(until)] })
    const id = await lastId()
    end()
    expect(await undo(id)).toEqual({ limits: {}, overrides: [{ ...acme(), identity: 'eve' }, acme()] })
  })

  test('an override that a change replaced does not come back after its end', async () => {
    const { set, lastId, undo } = edited()
    await set({ overrides: [acme(until)] })
    await set({ overrides: [acme()] })
    const id = await lastId()
    end()
    expect((await undo(id)).overrides).toEqual([])
  })

  test('a clock that steps back restores no override that was dropped', async () => {
    const { set, lastId, failure, settings } = edited()
    await set({ overrides: [acme(until)] })
    const id = await lastId()
    const clock = end()
    await set({ mode: 'report' })
    clock.mockRestore()
    expect((await failure(id)).message).toContain('is left to undo, because its overrides have ended')
    expect((await settings.read('api')).overrides).toEqual([])
  })
})

test('what cannot be undone says why', async () => {
  const { set, lastId, failure } = edited()
  await set({})
  expect((await failure(await lastId())).message).toBe(
    'settings: nothing of the change of ada ("a test") is left to undo, because it changed nothing. ' +
      'Leave it as it is.',
  )
  await set({
    overrides: Array.from({ length: 2000 }, (_, i) => ({ ...acme(), identity: `${'x'.repeat(150)}${i}` })),
  })
  expect((await failure(await lastId())).message).toBe(
    'settings: the change of ada ("a test") cannot be undone, because it changed 2000 parts, too many to keep. ' +
      'Change the document instead.',
  )
  for (const id of ['', 'none', '__proto__', undefined as never])
    expect((await failure(id)).message).toContain(
      'among the last 100. Pass an id that settings.changes returns',
    )
})

test('a change of an earlier version cannot be undone', async () => {
  const { store, overwrite } = fragileStore()
  await overwrite(JSON.stringify({ document: {}, changes: [{ ...ada, atMs: 1, id: 'old' }] }))
  const { failure } = edited(store)
  expect((await failure('old')).message).toContain('because an earlier version of headgate made it')
})

test('a damaged document is repaired first', async () => {
  const { store, overwrite } = fragileStore()
  const text = {
    document: { overrides: 5 },
    changes: [{ ...ada, atMs: 1, id: 'x', parts: [{ path: 'mode' }] }],
  }
  await overwrite(JSON.stringify(text))
  expect((await edited(store).failure('x')).message).toContain('Replace it with settings.change.')
})

test('a part of the history that is not valid is not restored', async () => {
  const { store, overwrite } = fragileStore()
  const parts = [{ path: 'limits.__proto__', before: { limit: 0 } }]
  await overwrite(JSON.stringify({ document: {}, changes: [{ ...ada, atMs: 1, id: 'x', parts }] }))
  const { failure, settings } = edited(store)
  expect((await failure('x')).message).toContain('a name in limits must be 1 to 64 letters')
  expect(await settings.read('api')).toEqual({ limits: {}, overrides: [] })
})

test('an undo whose reply was lost is made once', async () => {
  const store = memoryStore()
  const { read, replace } = store.documents as Documents
  let losses = 0
  const documents: Documents = {
    read,
    async replace(...given) {
      const isWritten = await replace(...given)
      if (losses-- > 0) throw new StoreError('memory', 'the connection was lost before the reply arrived')
      return isWritten
    },
  }
  const { set, lastId, undo, settings } = edited({ ...store, documents })
  await set({ mode: 'report' })
  losses = 2
  expect(await undo(await lastId())).toEqual({ limits: {}, overrides: [] })
  expect(await settings.changes('api')).toHaveLength(2)
})

test('of undos at once, one is made and the others see it', async () => {
  const store = memoryStore()
  const { set, lastId, settings } = edited(store)
  await set({ mode: 'report' })
  const id = await lastId()
  const results = await Promise.allSettled(
    Array.from({ length: 8 }, () => scriptOn(store).undo('api', id, bob)),
  )
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  const undone = expect.stringContaining('because bob ("a rollback") has undone it already')
  expect(errors.map(({ message }) => message)).toEqual(Array.from({ length: 7 }, () => undone))
  expect(await settings.changes('api')).toHaveLength(2)
  expect((await store.documents?.read([{ key: KEY }]))?.[0]?.text).toContain('"undoes"')
})
