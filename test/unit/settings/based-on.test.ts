import {
  memoryStore,
  type SettingsChange,
  SettingsConflictError,
  type SettingsDocument,
  sharedSettings,
} from 'headgate'
import type { Documents } from 'headgate/store'
import { ada, fragileStore, scriptOn } from './fragile-store.js'

const bob = { by: 'bob', reason: 'a trial' }
const exempt = (identity: string) => ({ identity, exempt: true as const })

afterEach(() => jest.restoreAllMocks())

/** Settings with a document, and what an operator sees of it. */
async function opened(document: Partial<SettingsDocument> = { limits: { api: { limit: 5 } } }) {
  const settings = sharedSettings(memoryStore())
  await settings.change('api', document, ada)
  const seen = await settings.readWithChanges('api')
  const basedOn = seen.changes[0]?.id ?? null
  return {
    settings,
    seen,
    set: (edit: object) => settings.change('api', (now) => ({ ...now, ...edit }), ada),
    save: (edited: Partial<SettingsDocument>) => settings.change('api', edited, { ...bob, basedOn }),
    edit: (make: (now: SettingsDocument) => Partial<SettingsDocument>) =>
      settings.change('api', make, { ...bob, basedOn }),
  }
}

test('a document that was edited in the meantime merges, part by part', async () => {
  const { save, set, seen, settings } = await opened({
    limits: { api: { limit: 5 }, login: { limit: 1 } },
    overrides: [exempt('acme'), exempt('eve')],
  })
  await set({ mode: 'report', overrides: [exempt('eve'), exempt('new')] })
  const { document } = seen
  const saved = await save({
    ...document,
    limits: { ...document.limits, api: { limit: 9 } },
    overrides: [...document.overrides, { network: '10.0.0.0/8', block: true }],
  })
  expect(saved).toEqual({
    mode: 'report',
    limits: { api: { limit: 9 }, login: { limit: 1 } },
    overrides: [exempt('eve'), exempt('new'), { network: '10.0.0.0/8', block: true }],
  })
  expect((await settings.changes('api'))[0]?.parts?.map(({ path }) => path)).toEqual([
    'limits.api',
    'overrides[network="10.0.0.0/8"]',
  ])
})

test('a part that both have changed is a conflict, with the three values and the changes since', async () => {
  const { save, set, settings } = await opened()
  await set({ limits: { api: { limit: 7 } } })
  await set({ limits: { api: { limit: 8 } }, mode: 'report' })
  const error = await save({ limits: { api: { limit: 9 } } }).catch((reason) => reason)
  expect(error).toBeInstanceOf(SettingsConflictError)
  expect(error.name).toBe('SettingsConflictError')
  expect(error.message).toBe(
    'settings: others have changed limits.api (by ada: "a test") since the version that this change is based on. ' +
      'Read the document again, and repeat the change.',
  )
  const [last, first] = await settings.changes('api')
  const { parts: _parts, ...bare } = last as SettingsChange
  expect(error.changes).toEqual([last, first])
  expect(error.parts).toEqual([
    { path: 'limits.api', before: { limit: 5 }, theirs: { limit: 8 }, yours: { limit: 9 }, change: bare },
  ])
})

test('an edit is called with the latest document, and conflicts by what it changes', async () => {
  const { edit, set } = await opened()
  await set({ mode: 'report' })
  expect(await edit((now) => ({ ...now, limits: { api: { limit: 9 } } }))).toMatchObject({
    mode: 'report',
    limits: { api: { limit: 9 } },
  })
  await expect(edit((now) => ({ limits: now.limits }))).rejects.toThrow('others have changed mode')
})

test('the same value twice is no conflict', async () => {
  const { save, set, settings } = await opened()
  await set({ limits: { api: { limit: 9 } } })
  expect((await save({ limits: { api: { limit: 9 } } })).limits).toEqual({ api: { limit: 9 } })
  expect((await settings.changes('api'))[0]?.parts).toEqual([])
})

test('a part that one removes and the other changes is a conflict', async () => {
  const { save, set } = await opened({ overrides: [exempt('acme')] })
  await set({ overrides: [{ identity: 'acme', block: true }] })
  const error = await save({}).catch((reason) => reason)
  expect(error.parts).toEqual([
    expect.objectContaining({ before: exempt('acme'), theirs: { identity: 'acme', block: true } }),
  ])
  expect(error.parts[0]).not.toHaveProperty('yours')
})

test('two spellings of one network are one part', async () => {
  const { save, set } = await opened({})
  await set({ overrides: [{ network: '10.0.0.0/8', block: true }] })
  await expect(save({ overrides: [{ network: '::ffff:10.0.0.0/104', exempt: true }] })).rejects.toThrow(
    'others have changed overrides[network="10.0.0.0/8"]',
  )
})

test('null is the document before its first change', async () => {
  const settings = sharedSettings(memoryStore())
  const basedOn = null
  await settings.change('api', { mode: 'report' }, { ...ada, basedOn })
  await expect(settings.change('api', { mode: 'enforce' }, { ...bob, basedOn })).rejects.toThrow(
    'others have changed mode',
  )
  await settings.change('api', { limits: { api: { limit: 1 } } }, { ...bob, basedOn })
  expect(await settings.read('api')).toEqual({ mode: 'report', limits: { api: { limit: 1 } }, overrides: [] })
})

test('an override that has ended since is no conflict, and does not come back', async () => {
  const until = Date.now() + 60_000
  const ending = { ...exempt('acme'), until }
  const { save, set, seen } = await opened({ overrides: [ending, exempt('eve')] })
  jest.spyOn(Date, 'now').mockReturnValue(until)
  await set({ mode: 'report' })
  expect((await save({ ...seen.document, limits: { api: { limit: 2 } } })).overrides).toEqual([exempt('eve')])
  expect((await save({ ...seen.document, overrides: [{ ...ending, until: until + 1 }] })).overrides).toEqual([
    { ...ending, until: until + 1 },
  ])
})

describe('what others changed is not known', () => {
  const unknown = 'the history does not say what'

  test('if it was too much to keep', async () => {
    const { edit, set } = await opened()
    await set({ overrides: Array.from({ length: 2000 }, (_, i) => exempt(`${'x'.repeat(150)}${i}`)) })
    const error = await edit((now) => ({ ...now, mode: 'report' })).catch((reason) => reason)
    expect(error).toBeInstanceOf(SettingsConflictError)
    expect(error.message).toContain(`${unknown} ada ("a test") has changed since`)
    expect([error.parts, error.changes.length]).toEqual([[], 1])
  })

  test('if an earlier version of headgate changed it', async () => {
    const { store, overwrite } = fragileStore()
    const changes = ['new', 'base'].map((id) => ({ ...ada, atMs: 1, id }))
    await overwrite(JSON.stringify({ document: {}, changes }))
    const change = sharedSettings(store).change('api', {}, { ...bob, basedOn: 'base' })
    await expect(change).rejects.toThrow(unknown)
  })

  test('if the change is not among the last 100', async () => {
    const { save, set } = await opened()
    for (let i = 0; i < 100; i++) await set({})
    await expect(save({ mode: 'report' })).rejects.toThrow('is not among the last 100')
    const fromNothing = sharedSettings(memoryStore())
    const change = fromNothing.change('api', {}, { ...bob, basedOn: 'no such change' })
    await expect(change).rejects.toBeInstanceOf(SettingsConflictError)
  })
})

test.each([[''], [5], [{}]])('basedOn must not be %j', async (basedOn) => {
  const change = sharedSettings(memoryStore()).change('api', {}, { ...bob, basedOn: basedOn as never })
  await expect(change).rejects.toThrow('settings: basedOn must be the id of a change, or null')
})

test('of changes to one part that are based on one version, one is made, and the others lose nothing', async () => {
  const store = memoryStore()
  const settings = sharedSettings(store)
  const basedOn = null
  const limits = Array.from({ length: 20 }, (_, i) => i + 1)
  const results = await Promise.allSettled(
    limits.map((limit) =>
      scriptOn(store).change(
        'api',
        { limits: { api: { limit } }, overrides: [exempt(`tenant-${limit}`)] },
        { ...bob, basedOn },
      ),
    ),
  )
  const made = results.flatMap(({ status }, i) => (status === 'fulfilled' ? [limits[i]] : []))
  expect(made).toHaveLength(1)
  expect(await settings.read('api')).toEqual({
    limits: { api: { limit: made[0] } },
    overrides: [exempt(`tenant-${made[0]}`)],
  })
  const losers = limits.filter((limit) => limit !== made[0])
  const again = await Promise.allSettled(
    losers.map((limit) =>
      scriptOn(store).change('api', { overrides: [exempt(`tenant-${limit}`)] }, { ...bob, basedOn }),
    ),
  )
  expect(again.map(({ status }) => status)).toEqual(losers.map(() => 'fulfilled'))
  const { overrides } = await settings.read('api')
  expect(overrides.map(({ identity }) => identity).sort()).toEqual(limits.map((i) => `tenant-${i}`).sort())
})

test('a whole document that is merged does not replace one that the store has lost', async () => {
  const { store, lose } = fragileStore()
  const settings = sharedSettings(store)
  await settings.change('api', { mode: 'report' }, ada)
  const basedOn = (await settings.changes('api'))[0]?.id as string
  lose()
  const script = sharedSettings({ ...store, documents: { ...store.documents } as Documents })
  await expect(script.change('api', {}, { ...bob, basedOn })).rejects.toBeInstanceOf(SettingsConflictError)
  expect(await settings.change('api', {}, { ...bob, basedOn })).toEqual({ limits: {}, overrides: [] })
})
