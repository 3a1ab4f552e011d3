import { ban, fixedWindow, memoryStore, type SharedSettings, StoreError, sharedSettings } from 'headgate'
import { blockIdentities } from '../../../../src/dashboard/actions/adjust-clients.js'
import { readInForce } from '../../../../src/dashboard/actions/in-force.js'
import { lift } from '../../../../src/dashboard/actions/lift.js'
import { lookUp } from '../../../../src/dashboard/actions/lookup.js'
import { overrideTargets } from '../../../../src/dashboard/actions/overrides.js'
import { charge, watchedLimiter } from './watched.js'

const nobody = { identities: [], events: [] }
const ines = { by: 'ines', reason: 'a scraper' }
const omar = { by: 'omar', reason: 'an office' }
const HOUR_MS = 3_600_000
const block = { block: true } as const

test('what one change did alike is one entry, with whom, until when, by whom and why', async () => {
  const { watched } = watchedLimiter()
  const targets = Array.from({ length: 40 }, (_, i) => ({ network: `10.0.${i}.0/24` }))
  const { untilMs } = await overrideTargets(watched, { targets, effect: block, durationMs: HOUR_MS }, ines)
  await overrideTargets(
    watched,
    { targets: targets.slice(0, 1), effect: { exempt: true }, durationMs: 2 * HOUR_MS },
    omar,
  )
  const { entries, total, base } = await readInForce(watched, nobody)
  expect({ total, base }).toEqual({ total: 2, base: expect.any(String) })
  expect(entries.map(({ kind, count, by, reason }) => ({ kind, count, by, reason }))).toEqual([
    { kind: 'exempt', count: 1, ...omar },
    { kind: 'block', count: 39, ...ines },
  ])
  expect(entries[1]).toMatchObject({ untilMs, targets: targets.slice(1, 21).map(({ network }) => network) })
})

test('mode, numbers, candidate and raised limits are listed, and those of a file without author', async () => {
  const { watched, settings } = watchedLimiter()
  const document = {
    mode: 'report',
    limits: { api: { limit: 5 } },
    candidate: { limits: { api: { limit: 4 } } },
    overrides: [
      { identity: 'ada', limits: { api: { limit: 50 } } },
      { identityPrefix: 'trial-', exempt: true },
    ],
  } as const
  await settings.change('api', document as never, ines)
  const { entries } = await readInForce(watched, nobody)
  expect(entries.map(({ kind, targets, value }) => [kind, targets, value])).toEqual([
    ['mode', [], 'report'],
    ['limit', [], { api: { limit: 5 } }],
    ['candidate', [], { limits: { api: { limit: 4 } } }],
    ['raise', ['ada'], { api: { limit: 50 } }],
    ['exempt', ['trial-…'], undefined],
  ])
  expect(entries.every(({ untilMs }) => untilMs === undefined)).toBe(true)
})

test('each part that is lifted is as it was before', async () => {
  const { limiter, watched, settings } = watchedLimiter()
  await settings.change('api', { limits: { api: { limit: 2 } } }, omar)
  await settings.change('api', { limits: { api: { limit: 1 } } }, omar)
  await overrideTargets(
    watched,
    { targets: [{ identity: 'ada' }], effect: { exempt: true }, durationMs: HOUR_MS },
    omar,
  )
  await overrideTargets(
    watched,
    { targets: [{ identity: 'ada' }, { identity: 'bob' }], effect: block, durationMs: HOUR_MS },
    ines,
  )
  const { entries, base = null } = await readInForce(watched, nobody)
  const paths = entries.flatMap((entry) => entry.paths)
  expect(paths.length).toBe(3)
  await lift(watched, { paths, base }, { by: 'omar', reason: 'over' })
  expect(await charge(limiter, 'ada', 4)).toEqual([true, true, true, true]) // exempt again
  expect(await charge(limiter, 'bob', 3)).toEqual([true, true, false]) // by a limit of 2 again
})

test('what no operator is known to have set is removed', async () => {
  const store = memoryStore()
  const settings = sharedSettings(store)
  const { watched } = watchedLimiter({ store, settings })
  const text = JSON.stringify({ document: { limits: { api: { limit: 9 } }, overrides: [] }, changes: [] })
  await store.documents?.replace('hg:settings:api', text, undefined)
  const { entries, base = null } = await readInForce(watched, nobody)
  expect({ entries, base }).toMatchObject({ entries: [{ kind: 'limit', paths: ['limits.api'] }], base: null })
  await lift(watched, { paths: ['limits.api'], base }, ines)
  expect((await readInForce(watched, nobody)).entries).toEqual([])
})

test('what another operator has changed meanwhile is not lifted', async () => {
  const { watched, settings } = watchedLimiter()
  await settings.change('api', { limits: { api: { limit: 2 } } }, ines)
  const { base = null } = await readInForce(watched, nobody)
  await settings.change('api', { limits: { api: { limit: 7 } } }, omar)
  await expect(lift(watched, { paths: ['limits.api'], base }, ines)).rejects.toThrow('omar')
  expect((await settings.read('api')).limits).toEqual({ api: { limit: 7 } })
})

describe('lifted from a list that is no longer true', () => {
  const paths = ['limits.api']
  const limited = async (settings: SharedSettings, limit: number, by: string) => {
    await settings.change('api', { limits: { api: { limit } } }, { by, reason: 'x' })
    return (await settings.changes('api'))[0]?.id ?? ''
  }

  test('what was listed goes, with what has replaced it since, and what was there before comes back', async () => {
    const { watched, settings } = watchedLimiter()
    const base = await limited(settings, 200, 'ada')
    const over = await limited(settings, 300, 'eve')
    const conflict = await lift(watched, { paths, base }, ines).catch((error) => error)
    expect(conflict.parts).toEqual([
      expect.objectContaining({ before: { limit: 200 }, theirs: { limit: 300 } }),
    ])
    expect(conflict.parts[0]).not.toHaveProperty('yours') // as in the code, as before ada's change
    await lift(watched, { paths, base, over }, ines)
    expect((await settings.read('api')).limits).toEqual({})
  })

  test('is undone once, whoever else tries, at once or later, and nevertheless', async () => {
    const { watched, settings } = watchedLimiter()
    await limited(settings, 200, 'ada')
    const base = await limited(settings, 20, 'eve')
    const both = await Promise.allSettled([ines, omar].map((by) => lift(watched, { paths, base }, by)))
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']) // either may be first
    const over = (await settings.changes('api'))[0]?.id ?? ''
    const later = [{ paths, base }, { paths, base, over }, { change: base }, { change: base, over }]
    const messages = await Promise.all(
      later.map((each) => lift(watched, each, omar).catch(({ message }) => message)),
    )
    const undone = expect.stringMatching(
      / left to undo, because (?:ines|omar) \("[^"]+"\) has undone it already\./,
    )
    expect(messages).toEqual(later.map(() => undone))
    expect((await settings.read('api')).limits).toEqual({ api: { limit: 200 } })
    expect(await settings.changes('api')).toHaveLength(3)
  })

  test('an override that has ended meanwhile leaves nothing to undo, and no entry in the history', async () => {
    const { watched, settings } = watchedLimiter()
    const until = Date.now() + 60_000
    await settings.change('api', { overrides: [{ identity: 'acme', block: true, until }] }, ines)
    const { entries, base = null } = await readInForce(watched, nobody)
    const clock = jest.spyOn(Date, 'now').mockReturnValue(until + 1)
    const lifting = lift(watched, { paths: entries[0]?.paths ?? [], base }, omar)
    await expect(lifting).rejects.toThrow('nothing is left to undo, because it has ended')
    clock.mockRestore()
    expect(await settings.changes('api')).toHaveLength(1)
  })
})

describe('a ban', () => {
  const policy = ban(fixedWindow({ limit: 1, window: '1m' }), { after: 1, within: '1m', for: '1h' })

  test('of a client that the page knows is listed, with who asked for it', async () => {
    const { limiter, watched } = watchedLimiter({ policy, settings: undefined })
    await charge(limiter, 'ada', 3)
    await charge(limiter, 'bob', 1)
    const { standings } = await lookUp(watched, 'ada')
    const identities = [standings[0]?.identity ?? '', 'unknown', 'bob']
    const known = {
      ...watched,
      writtenOut: () => (shown: string) => (shown === identities[0] ? '=ada' : undefined),
    }
    const event = {
      id: 'e',
      atMs: 5,
      kind: 'block',
      text: '',
      limiter: 'api',
      ...ines,
      details: { identities },
    } as const
    const { entries, base } = await readInForce(known, { identities, events: [event] })
    expect(base).toBeUndefined()
    expect(entries).toMatchObject([{ kind: 'ban', targets: [identities[0]], paths: [], ...ines, atMs: 5 }])
    expect(entries[0]?.untilMs).toBeGreaterThan(Date.now() + HOUR_MS / 2)
  })

  test('that an operator asked for is listed as he typed it, though the page lists the client too', async () => {
    const { limiter, watched } = watchedLimiter({ policy, settings: undefined })
    await charge(limiter, 'ada', 3)
    await blockIdentities(watched, ['ada'], 60_000) // in all spellings
    const { standings } = await lookUp(watched, 'ada')
    const identities = standings.map(({ identity }) => identity)
    expect(identities.length).toBeGreaterThan(1)
    const details = { identities: ['ada'] }
    const event = { id: 'e', atMs: 5, kind: 'block', text: '', limiter: 'api', ...ines, details } as const
    const other = { ...event, limiter: 'other', details: { identities: ['bob'] } } as const
    const { entries } = await readInForce(watched, { identities, events: [event, other] })
    expect(entries).toMatchObject([{ kind: 'ban', targets: ['ada'], ...ines }])
  })

  test('is looked for among as many denied clients as the store reads in one batch, and the list says so', async () => {
    const { limiter, watched } = watchedLimiter({ policy, settings: undefined })
    await charge(limiter, 'client-1099', 3)
    await charge(limiter, 'client-99', 3)
    const identities = Array.from({ length: 1100 }, (_, i) => `client-${i}`)
    const named = { ...watched, writtenOut: () => (shown: string) => `=${shown}` }
    const lookAmong = async (batching?: object) => {
      const store = { ...watched.inspection.store, ...(batching && { name: 'remote', batching }) }
      const inspection = batching ? { ...watched.inspection, store } : watched.inspection
      const { banned, total } = await readInForce({ ...named, inspection } as never, {
        identities,
        events: [],
      })
      return [banned?.looked, banned?.unread, total]
    }
    expect(await lookAmong()).toEqual([1000, 100, 1])
    expect(await lookAmong({ maxKeys: 256, maxInFlight: 2 })).toEqual([256, 844, 1])
    expect(await lookAmong({ maxKeys: 1, maxInFlight: 2 })).toEqual([50, 1050, 0])
    expect((await readInForce(watchedLimiter().watched, nobody)).banned).toBeUndefined() // without bans
  })

  test('is not listed of all that operators have blocked: 30 by hand, and 100 that no event names', async () => {
    const { watched } = watchedLimiter({ policy, settings: undefined })
    await charge(watched.limiter as never, 'c0')
    const identities = Array.from({ length: 30 }, (_, i) => `c${i}`)
    await blockIdentities(watched, identities, 60_000)
    const about = { kind: 'block', text: '', limiter: 'api', ...ines } as const
    const minuteAgoMs = Date.now() - 60_000
    const events = [
      { ...about, id: 'ended', atMs: 5, details: { identities: ['old'], count: 7 } },
      { ...about, id: '1', atMs: minuteAgoMs, details: { identities: identities.slice(0, 20), count: 120 } },
      { ...about, id: '2', atMs: minuteAgoMs, details: { identities: identities.slice(20) } },
    ]
    const { total, banned } = await readInForce(watched, { identities: [], events })
    expect({ total, banned }).toEqual({ total: 20, banned: { looked: 0, unread: 0, unreadBlocked: 110 } })
  })

  test('that cannot be read is a problem, and settings are still listed; and the other way round', async () => {
    const { watched, settings } = watchedLimiter({ policy })
    await blockIdentities(watched, ['ada'], 60_000)
    await settings.change('api', { mode: 'report' }, ines)
    const fail = () => Promise.reject(new StoreError('memory', 'it hangs'))
    const broken = { ...watched, inspection: { ...watched.inspection, apply: fail } }
    const known = { identities: ['ada'], events: [] }
    expect(await readInForce(broken, known)).toEqual({
      limiter: 'api',
      base: expect.any(String),
      entries: [expect.objectContaining({ kind: 'mode', value: 'report' })],
      total: 1,
      problem: 'Bans could not be read (memory: it hangs).',
    })
    jest.spyOn(settings, 'readWithChanges').mockImplementation(fail)
    const event = { id: 'e', atMs: 5, kind: 'block', text: '', limiter: 'api', ...ines } as const
    const details = { identities: ['ada'] }
    expect(await readInForce(watched, { identities: [], events: [{ ...event, details }] })).toMatchObject({
      entries: [{ kind: 'ban', targets: ['ada'] }],
      problem: 'Settings could not be read (memory: it hangs).',
    })
  })
})
