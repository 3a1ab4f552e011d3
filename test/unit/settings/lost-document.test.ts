import { scheduler } from 'node:timers/promises'
import { memoryStore, sharedSettings } from 'headgate'
import type { Documents } from 'headgate/store'
import { ada, blocked, closeAll, following, fragileStore, KEY, scriptOn } from './fragile-store.js'

beforeEach(() => jest.useFakeTimers())
afterEach(async () => {
  await closeAll()
  jest.useRealTimers()
})

describe('after the store has lost the document', () => {
  test('a change starts from the one that limiters follow, and keeps its history', async () => {
    const { store, lose } = fragileStore()
    const { settings, charge } = following(store)
    await scriptOn(store).change('api', () => blocked, ada)
    await jest.advanceTimersByTimeAsync(1000)
    lose()
    expect(await settings.read('api')).toEqual(blocked)
    await settings.change('api', (document) => ({ ...document, limits: { api: { limit: 9 } } }), ada)
    expect(charge('mallory').source).toBe('blocked')
    expect(charge('acme').limit).toBe(9)
    expect(await scriptOn(store).read('api')).toEqual({ ...blocked, limits: { api: { limit: 9 } } })
    expect(await scriptOn(store).changes('api')).toHaveLength(2)
  })

  test('one call restores it, and limiters say that it is missing', async () => {
    const { store, lose } = fragileStore()
    const { settings, failures } = following(store)
    await settings.change('api', () => blocked, ada)
    lose()
    await jest.advanceTimersByTimeAsync(3000)
    expect(failures).toEqual([
      'memory: the settings document is missing, so the last one still applies. To restore it, call settings.change with (document) => document',
    ])
    await settings.change('api', (document) => document, ada)
    expect(await scriptOn(store).read('api')).toEqual(blocked)
    await jest.advanceTimersByTimeAsync(3000)
    expect(failures).toHaveLength(1)
  })

  test('a process that only changes documents remembers what it wrote', async () => {
    const { store, lose } = fragileStore()
    const settings = sharedSettings(store)
    await settings.change('api', () => blocked, ada)
    lose()
    await settings.change('api', (document) => ({ ...document, mode: 'report' }), ada)
    expect(await scriptOn(store).read('api')).toEqual({ ...blocked, mode: 'report' })
  })

  test('nothing else is remembered: other names and other stores begin without a document', async () => {
    const { store, lose } = fragileStore()
    const settings = sharedSettings(store)
    await settings.change('api', () => blocked, ada)
    lose()
    expect(await settings.read('login')).toEqual({ limits: {}, overrides: [] })
    expect(await sharedSettings(store, { prefix: 'other' }).read('api')).toEqual({
      limits: {},
      overrides: [],
    })
    expect(await sharedSettings(memoryStore()).read('api')).toEqual({ limits: {}, overrides: [] })
  })

  test('a document that a caller modifies stays as it was in force', async () => {
    const { store, lose } = fragileStore()
    const { settings } = following(store)
    const changed = await settings.change('api', () => blocked, ada)
    changed.overrides.length = 0
    lose()
    const read = await settings.read('api')
    read.overrides.length = 0
    expect(await settings.read('api')).toEqual(blocked)
    await expect(
      settings.change(
        'api',
        (document) => {
          document.overrides.length = 0
          throw new Error('no')
        },
        ada,
      ),
    ).rejects.toThrow('no')
    expect(await settings.read('api')).toEqual(blocked)
  })
})

test('a store that went back to an earlier document, as after a restart, changes nothing', async () => {
  const { store, textOf, overwrite } = fragileStore()
  const { settings, charge, failures } = following(store)
  await settings.change('api', () => ({ mode: 'report' }), ada)
  const snapshot = await textOf()
  await settings.change('api', () => blocked, ada)
  await overwrite(snapshot)
  await jest.advanceTimersByTimeAsync(3000)
  expect(charge('mallory').source).toBe('blocked')
  expect(failures).toEqual([
    expect.stringContaining('the store has an earlier settings document than before'),
  ])
  await settings.change('api', (document) => ({ ...document, limits: { api: { limit: 9 } } }), ada)
  expect(charge('mallory').source).toBe('blocked')
  expect(charge('acme').limit).toBe(9)
})

const DAMAGED = [
  '{"broken',
  '',
  'null',
  '[]',
  '5',
  '{"limits":{}}',
  '{"document":5,"changes":[]}',
  '{"document":{"limits":{"api":{"limit":0}}},"changes":"none"}',
  '{"document":{"overrides":{"length":3}},"changes":[5,null,{}]}',
]

describe.each(DAMAGED)('a document that was overwritten with %j', (text) => {
  test('is replaced by one call, and limiters follow', async () => {
    const { store, overwrite } = fragileStore()
    const { settings, charge } = following(store)
    await settings.change('api', () => ({ mode: 'report' }), ada)
    await overwrite(text)
    await settings.change('api', () => blocked, ada)
    expect(charge('mallory').source).toBe('blocked')
    expect(await scriptOn(store).read('api')).toEqual(blocked)
  })

  test('leaves the last one in force, which read and edit get', async () => {
    const { store, overwrite } = fragileStore()
    const { settings, charge, failures } = following(store)
    await settings.change('api', () => blocked, ada)
    await overwrite(text)
    await jest.advanceTimersByTimeAsync(2000)
    expect(charge('mallory').source).toBe('blocked')
    expect(failures).toEqual([
      expect.stringMatching(/^settings: .* The last valid document still applies\. To/s),
    ])
    expect(await settings.read('api')).toEqual(blocked)
    expect(await settings.changes('api')).toHaveLength(1)
    await settings.change('api', (document) => document, ada)
    expect(await scriptOn(store).read('api')).toEqual(blocked)
  })

  test('is replaced by a process that knows no other, and never emptied by accident', async () => {
    const { store, overwrite, textOf } = fragileStore()
    await overwrite(text)
    const script = scriptOn(store)
    await expect(script.read('api')).rejects.toThrow(/^settings: .* Replace it with settings\.change\.$/s)
    expect(await script.changes('api')).toEqual([])
    const extend = script.change('api', (document) => ({ ...document, mode: 'report' }), ada)
    await expect(extend).rejects.toThrow(/^settings: /)
    const repeat = script.change('api', async (document) => document, ada)
    await expect(repeat).rejects.toThrow(/^settings: /)
    expect(await textOf()).toBe(text)
    await script.change('api', blocked, ada)
    expect(await scriptOn(store).read('api')).toEqual(blocked)
    expect(await script.changes('api')).toHaveLength(1)
  })
})

test('the error of an edit that needs a document which cannot be read names the fix', async () => {
  const { store, overwrite } = fragileStore()
  await overwrite('{"broken')
  const change = scriptOn(store).change('api', (document) => ({ ...document, mode: 'report' }), ada)
  await expect(change).rejects.toThrow(
    /the document must be valid JSON, got a syntax error .* pass a whole document in place of edit, such as \{ limits: \{\} \}\./,
  )
})

test('one wrong override of many is repaired, and the others stay', async () => {
  const { store, overwrite } = fragileStore()
  const wrong = { ...blocked, overrides: [...blocked.overrides, { identity: 'acme', exempt: 1 }] }
  await overwrite(JSON.stringify({ document: wrong, changes: [] }))
  const script = scriptOn(store)
  await script.change(
    'api',
    (document) => ({ overrides: document.overrides.filter(({ identity }) => identity !== 'acme') }),
    ada,
  )
  expect(await script.read('api')).toEqual(blocked)
})

test('a later document that only a newer version of the package can read is not overwritten', async () => {
  const { store, overwrite, textOf } = fragileStore()
  const { settings } = following(store)
  await settings.change('api', () => blocked, ada)
  const stored = JSON.parse(await textOf())
  const change = { ...ada, atMs: 1, id: 'by a newer version' }
  const newer = { document: { ...stored.document, schedule: [] }, changes: [change, ...stored.changes] }
  await overwrite(JSON.stringify(newer))
  const report = settings.change('api', (document) => ({ ...document, mode: 'report' }), ada)
  await expect(report).rejects.toThrow('settings: there is no option "schedule"')
  expect(JSON.parse(await textOf())).toEqual(newer)
})

test('a slow, older reply does not bring an old document back', async () => {
  const { store, documents } = fragileStore()
  const { settings, charge, failures } = following(store)
  await settings.change('api', () => ({ mode: 'report' }), ada)
  const old = await documents.read([{ key: KEY }])
  for (const reply of [old, [undefined]]) {
    let send: (found: Awaited<ReturnType<Documents['read']>>) => void = () => undefined
    jest.spyOn(documents, 'read').mockImplementationOnce(
      () =>
        new Promise((resolve) => {
          send = resolve
        }),
    )
    await jest.advanceTimersByTimeAsync(1000) // the poller reads
    await settings.change('api', () => blocked, ada)
    send(reply)
    await jest.advanceTimersByTimeAsync(0)
    expect(charge('mallory').source).toBe('blocked')
  }
  expect(failures).toEqual([])
})

describe('on a store that is frozen', () => {
  const frozen = () => new Promise<never>(() => undefined)

  /** Waits for the second attempt to read. The pause before it is real, as no test can fake it. */
  async function secondAttempt(read: jest.SpyInstance): Promise<void> {
    while (read.mock.calls.length < 2) await scheduler.wait(1)
  }

  test('changes at once each reject after ten seconds', async () => {
    const { store, documents } = fragileStore()
    const read = jest.spyOn(documents, 'read').mockImplementation(frozen)
    const settings = sharedSettings(store)
    const startedAtMs = performance.now()
    const rejectedAfterMs: number[] = []
    const changes = Array.from({ length: 3 }, () =>
      settings
        .change('api', (document) => document, ada)
        .catch((error: Error) => {
          expect(error).toMatchObject({ name: 'StoreError', store: 'memory' })
          rejectedAfterMs.push(Math.round((performance.now() - startedAtMs) / 1000))
        }),
    )
    await jest.advanceTimersByTimeAsync(5000)
    await secondAttempt(read)
    await jest.advanceTimersByTimeAsync(5000)
    await Promise.all(changes)
    expect(rejectedAfterMs).toEqual([10, 10, 10])
  })

  test('a write that hangs after a slow read does not take longer', async () => {
    const { store, documents } = fragileStore()
    const read = jest.spyOn(documents, 'read').mockImplementation(async () => {
      await new Promise((resolve) => setTimeout(resolve, 4000))
      return [undefined]
    })
    jest.spyOn(documents, 'replace').mockImplementation(frozen)
    const outcome = jest.fn()
    const change = sharedSettings(store)
      .change('api', (document) => document, ada)
      .catch((error: Error) => outcome(error.message))
    await jest.advanceTimersByTimeAsync(9000)
    await secondAttempt(read)
    await jest.advanceTimersByTimeAsync(900)
    expect(outcome).not.toHaveBeenCalled()
    await jest.advanceTimersByTimeAsync(100)
    await change
    expect(outcome).toHaveBeenCalledTimes(1)
  })

  test('read and changes reject after five seconds', async () => {
    const { store, documents } = fragileStore()
    jest.spyOn(documents, 'read').mockImplementation(frozen)
    const settings = sharedSettings(store)
    const rejected = [settings.read('api'), settings.changes('api')].map((each) =>
      expect(each).rejects.toThrow('memory: no reply within 5000 ms'),
    )
    await jest.advanceTimersByTimeAsync(5100)
    await Promise.all(rejected)
  })
})

describe('an edit that never ends', () => {
  const never = () => new Promise<never>(() => undefined)
  const mustEnd =
    'settings: edit must end within 5000 ms, and must not wait for another change of hg:settings:api'

  test('rejects with an error that names it, and the next change is made', async () => {
    const { store } = fragileStore()
    const settings = sharedSettings(store)
    const first = expect(settings.change('api', never, ada)).rejects.toThrow(mustEnd)
    const second = settings.change('api', () => blocked, ada)
    await jest.advanceTimersByTimeAsync(5100)
    await first
    expect((await second).overrides).toEqual(blocked.overrides)
  })

  test('is also named to the changes that it held up for too long', async () => {
    const { store } = fragileStore()
    const settings = sharedSettings(store)
    const edits = [never, never, never, () => blocked]
    const rejected = edits.map((edit) => settings.change('api', edit, ada).catch((error: Error) => error))
    await jest.advanceTimersByTimeAsync(11_000)
    for (const error of await Promise.all(rejected))
      expect(error).toMatchObject({
        name: 'TypeError',
        message: expect.stringContaining('edit must end within'),
      })
  })

  test('rejects if it waits for another change of the same document', async () => {
    const { store } = fragileStore()
    const settings = sharedSettings(store)
    const nested = () => settings.change('api', () => blocked, ada)
    const outer = expect(settings.change('api', nested, ada)).rejects.toThrow(mustEnd)
    await jest.advanceTimersByTimeAsync(5100)
    await outer
  })

  test('changes nothing if it ends later', async () => {
    const { store } = fragileStore()
    const settings = sharedSettings(store)
    const late = () => new Promise<typeof blocked>((resolve) => setTimeout(() => resolve(blocked), 7000))
    const rejected = expect(settings.change('api', late, ada)).rejects.toThrow(mustEnd)
    await jest.advanceTimersByTimeAsync(8000)
    await rejected
    expect((await settings.read('api')).overrides).toEqual([])
  })
})
