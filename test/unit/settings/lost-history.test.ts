import { type SettingsDocument, type Store, sharedSettings } from 'headgate'
import type { Documents } from 'headgate/store'
import { ada, blocked, closeAll, following, fragileStore, scriptOn } from './fragile-store.js'

const BEGUN =
  'the settings document was lost, and another process began a new one, so the lost one still applies'
const raised: Partial<SettingsDocument> = { limits: { api: { limit: 9 } } }
const raise = (document: SettingsDocument) => ({ ...document, ...raised })
const keep = (document: SettingsDocument) => document

beforeEach(() => jest.useFakeTimers())
afterEach(async () => {
  await closeAll()
  jest.useRealTimers()
})

const poll = () => jest.advanceTimersByTimeAsync(1500)

/** A store with a blocked client, and a process that follows it. */
async function blocking() {
  const fragile = fragileStore()
  const follower = following(fragile.store)
  await follower.settings.change('api', blocked, ada)
  return { ...fragile, ...follower }
}

/** The history that a text holds. */
const changesIn = (text: string): { id: string }[] => JSON.parse(text).changes

describe('after a loss, a script that knows no document', () => {
  test('removes nothing with its change, and one call restores what limiters follow', async () => {
    const { store, lose, settings, charge, failures } = await blocking()
    lose()
    await scriptOn(store).change('api', raise, ada)
    await poll()
    expect([charge('mallory').source, charge('acme').limit]).toEqual(['blocked', 2])
    expect(failures).toEqual([
      expect.stringContaining(`memory: ${BEGUN}. To restore it, call settings.change`),
    ])
    expect(await settings.read('api')).toEqual(blocked)
    await poll()
    expect(failures).toHaveLength(1)
    const started = following({ ...store, documents: { ...store.documents } } as Store) // follows the new one
    await poll()
    expect(started.charge('mallory').source).toBe('store')
    await settings.change('api', keep, ada)
    await poll()
    expect(started.charge('mallory').source).toBe('blocked')
    expect(started.failures).toEqual([])
    expect(await scriptOn(store).read('api')).toEqual(blocked)
  })

  test('is told apart after each of its changes', async () => {
    const { store, lose, charge, failures } = await blocking()
    lose()
    for (let changes = 1; changes <= 3; changes++) {
      await scriptOn(store).change('api', raise, ada)
      await poll()
      expect(failures).toHaveLength(changes)
    }
    expect(charge('mallory').source).toBe('blocked')
  })

  test('replaces the document with one that it passes', async () => {
    const { store, lose, charge, failures } = await blocking()
    lose()
    await scriptOn(store).change('api', raised, ada)
    await poll()
    expect([charge('mallory').source, charge('acme').limit]).toEqual(['store', 9])
    expect(failures).toEqual([])
  })

  test('lifts no block by an edit, whatever the edit returns', async () => {
    const { store, lose, charge, failures } = await blocking()
    lose()
    await scriptOn(store).change('api', () => raised, ada)
    await poll()
    expect(charge('mallory').source).toBe('blocked')
    expect(failures).toEqual([expect.stringContaining(BEGUN)])
  })

  test('replaces the document even after an edit that limiters ignored', async () => {
    const { store, lose, charge } = await blocking()
    lose()
    await scriptOn(store).change('api', raise, ada)
    await poll()
    await scriptOn(store).change('api', { limits: { api: { limit: 7 } } }, ada)
    await poll()
    expect([charge('mallory').source, charge('acme').limit]).toEqual(['store', 7])
  })

  test('loses to a change of a process that follows the last one', async () => {
    const { store, lose, settings, charge } = await blocking()
    lose()
    await scriptOn(store).change('api', (document) => ({ ...document, mode: 'report' }), ada)
    await settings.change('api', raise, ada)
    expect([charge('mallory').source, charge('acme').limit]).toEqual(['blocked', 9])
    expect(await scriptOn(store).read('api')).toEqual({ ...blocked, ...raised })
  })
})

test('a change to an earlier document, such as a backup, brings it into force nowhere', async () => {
  const { store, settings, textOf, overwrite, charge, failures } = await blocking()
  const backup = await textOf()
  await settings.change('api', raise, ada)
  await overwrite(backup)
  await scriptOn(store).change('api', (document) => ({ ...document, mode: 'report' }), ada)
  await poll()
  expect([charge('mallory').allowed, charge('acme').limit]).toEqual([false, 9])
  expect(failures).toEqual([expect.stringContaining(BEGUN)])
})

test('a loss is recognized after a change that a poll found before the reply to it', async () => {
  const { store, lose } = fragileStore()
  const { read, replace } = store.documents as Documents
  const replaceLate: Documents['replace'] = async (...given) => {
    const isDone = await replace(...given)
    await poll()
    return isDone
  }
  const follower = following({ ...store, documents: { read, replace: replaceLate } })
  await follower.settings.change('api', () => blocked, ada)
  lose()
  await scriptOn(store).change('api', raise, ada)
  await poll()
  expect(follower.charge('mallory').source).toBe('blocked')
  expect(follower.failures).toEqual([expect.stringContaining(BEGUN)])
})

describe('a process that has not read the document for more than 100 changes', () => {
  /** Changes a document so often that the history drops everything that others know. */
  async function changeOften(store: Store): Promise<void> {
    const script = scriptOn(store)
    for (let i = 0; i < 100; i++) await script.change('api', raise, ada)
  }

  test('follows it', async () => {
    const { store, charge, failures } = await blocking()
    await changeOften(store)
    await changeOften(store)
    await poll()
    expect([charge('mallory').source, charge('acme').limit]).toEqual(['blocked', 9])
    expect(failures).toEqual([])
  })

  test('does not follow one that was begun anew', async () => {
    const { store, lose, charge, failures } = await blocking()
    lose()
    await changeOften(store)
    await changeOften(store)
    await poll()
    expect(charge('mallory').source).toBe('blocked')
    expect(failures).toEqual([expect.stringContaining(BEGUN)])
  })

  test('does not follow one that it has seen diverge', async () => {
    const { store, textOf, overwrite, settings, charge } = await blocking()
    const backup = await textOf()
    await settings.change('api', (document) => ({ ...document, mode: 'report' }), ada)
    await overwrite(backup)
    await poll()
    const script = scriptOn(store)
    for (let i = 0; i < 110; i++) {
      await script.change('api', raise, ada)
      if (i % 10 === 0) await poll()
    }
    await poll()
    expect(charge('acme').limit).toBe(2)
    await settings.change('api', keep, ada)
    await poll()
    expect(charge('acme').limit).toBe(2)
  })

  test('follows one whose beginning a process of an older version has dropped', async () => {
    const { store, textOf, overwrite, charge, failures } = await blocking()
    await changeOften(store)
    const { first: _first, ...older } = JSON.parse(await textOf())
    await overwrite(JSON.stringify(older))
    await changeOften(store)
    await poll()
    expect(charge('acme').limit).toBe(9)
    expect(failures).toEqual([])
  })
})

describe('a document that was written by hand', () => {
  const byHand = JSON.stringify({ document: raised, changes: [] })

  test('is followed, and so is the first change to it', async () => {
    const { store, overwrite, charge, failures } = await blocking()
    await overwrite(byHand)
    await poll()
    expect([charge('mallory').source, charge('acme').limit]).toEqual(['store', 9])
    await scriptOn(store).change(
      'api',
      (document) => ({ ...document, ...blocked, limits: document.limits }),
      ada,
    )
    await poll()
    expect([charge('mallory').source, charge('acme').limit]).toEqual(['blocked', 9])
    expect(failures).toEqual([])
  })

  test('outlasts its loss and the change of a script', async () => {
    const { store, overwrite, lose, charge, failures } = await blocking()
    await overwrite(byHand)
    await poll()
    lose()
    await scriptOn(store).change('api', (document) => ({ ...document, mode: 'report' }), ada)
    await poll()
    expect(charge('acme').limit).toBe(9)
    expect(failures).toEqual([expect.stringContaining(BEGUN)])
  })
})

test('a damaged document is repaired by an edit that reads it, although its history is lost', async () => {
  const { store, overwrite, charge, failures } = await blocking()
  await overwrite(JSON.stringify({ document: { ...raised, overrides: 5 } }))
  await poll()
  await scriptOn(store).change('api', ({ limits }) => ({ limits }), ada)
  await poll()
  expect([charge('mallory').source, charge('acme').limit]).toEqual(['store', 9])
  expect(failures).toHaveLength(1)
})

test('a process that has changed a document, but does not follow it, accepts what the store holds later', async () => {
  const { store, lose } = fragileStore()
  const admin = sharedSettings(store)
  await admin.change('api', () => blocked, ada)
  lose()
  await scriptOn(store).change('api', raise, ada)
  expect(await admin.read('api')).toEqual({ ...raised, overrides: [] })
  expect((await admin.change('api', keep, ada)).limits).toEqual(raised.limits)
})

test('the text of a change says what it is', async () => {
  const { store, lose, settings, textOf } = await blocking()
  await settings.change('api', raise, ada)
  const [second, first] = changesIn(await textOf())
  expect(first).toHaveProperty('replaces', true)
  expect(second).not.toHaveProperty('replaces')
  expect(JSON.parse(await textOf()).first).toBe(first?.id)
  lose()
  await scriptOn(store).change('api', keep, ada)
  expect(changesIn(await textOf())).toEqual([expect.not.objectContaining({ replaces: true })])
  await settings.change('api', keep, ada)
  expect(changesIn(await textOf())).toEqual([expect.objectContaining({ replaces: true }), second, first])
  expect((await settings.changes('api'))[0]).not.toHaveProperty('replaces')
})
