import { createLimiter, type SettingsDocument, StoreError, slidingLog } from 'headgate'
import type { Documents } from 'headgate/store'
import type { Advanced } from '../../../../src/tuning/trial/shared-trials.js'
import { ada, bob, demandSince, HOUR_MS, KEY, PLAN, START_MS, sharedWorld } from './trial-processes.js'

const textsOf = ({ events }: Advanced) => events.map(({ text }) => text)
const phaseOf = ({ trial }: Advanced) => [trial?.phase, trial?.outcome]

/** A trial that is ready for its approval. */
async function readyWorld() {
  const world = sharedWorld()
  const process = world.process()
  await process.trials.start(PLAN, ada)
  await process.trials.advance('api', world.pass(24 * HOUR_MS))
  return { world, ...process }
}

/** A trial whose limit has just been promoted. */
async function guardedWorld() {
  const ready = await readyWorld()
  await ready.trials.approve('api', ada)
  return ready
}

test('a trial runs as a candidate, waits for approval, is guarded, and stays', async () => {
  const world = sharedWorld()
  const { trials, settings } = world.process()
  const started = await trials.start(PLAN, ada)
  expect(textsOf(started)).toEqual([
    'a trial of the limit of 60 for api begins',
    'the limit of 60 for api runs as a candidate for 1d',
  ])
  expect(started.events[0]).toMatchObject({ ...ada, atMs: START_MS, kind: 'tune', limiter: 'api' })
  expect(await settings.read('api')).toEqual({
    limits: {},
    overrides: [],
    candidate: { limits: { api: { limit: 60 } } },
  })

  const early = await trials.advance('api', world.pass(23 * HOUR_MS))
  expect([early.events, phaseOf(early)]).toEqual([[], ['watching', undefined]])
  world.nowMs += HOUR_MS
  expect(phaseOf(await trials.advance('api'))).toEqual(['watching', undefined]) // there are no figures
  const ready = await trials.advance('api', demandSince(START_MS, world.nowMs))
  expect(textsOf(ready)).toEqual([
    'the limit of 60 for api would newly deny 99 of 401 clients (estimated), and waits for approval',
  ])
  expect(await settings.read('api')).toMatchObject({ candidate: { limits: { api: { limit: 60 } } } })

  const promoted = await trials.approve('api', bob)
  expect(textsOf(promoted)).toEqual([
    'the limit of 60 for api was approved',
    'the limit of 60 for api is in force, and is reverted if it denies too many clients within 1h',
  ])
  expect(promoted.events[0]).toMatchObject(bob)
  expect(await settings.read('api')).toEqual({ limits: { api: { limit: 60 } }, overrides: [] })

  const kept = await trials.advance('api', world.pass(HOUR_MS, { denied: 4 }))
  expect(textsOf(kept)).toEqual(['the limit of 60 for api stays in force'])
  expect(phaseOf(kept)).toEqual(['ended', 'kept'])
  expect(
    (await settings.changes('api')).map(({ by, reason }) => [by, reason.replace(/ \w+\)/, ' …)')]),
  ).toEqual([
    ['bob', 'tune: 60 for api is promoted (trial …)'],
    ['ada', 'tune: 60 for api runs as a candidate (trial …)'],
  ])
  expect(new Set(kept.trial?.events.map(({ id }) => id)).size).toBe(6)
})

test.each([
  ['clients that are denied as much as they ask for', { denied: 5 }],
  ['a client that retries in a loop after its denial', { denied: 5, raging: true }],
])('if too many in good standing are denied, the limit is reverted: %s', async (_, more) => {
  const { world, trials, settings } = await guardedWorld()
  await settings.change('api', (now) => ({ ...now, overrides: [{ identity: 'acme', exempt: true }] }), bob)
  const reverted = await trials.advance('api', world.pass(HOUR_MS / 6, more))
  expect(textsOf(reverted)).toEqual([
    'the limit of 60 for api is reverted, because it denies 5 of 400 clients in good standing',
    'the trial of the limit of 60 for api has ended, because it denies 5 of 400 clients in good standing',
  ])
  expect(reverted.trial?.guarded?.identities).toHaveLength(5)
  expect(await settings.read('api')).toEqual({
    limits: {},
    overrides: [{ identity: 'acme', exempt: true }],
  })
})

test('an earlier limit in the settings comes back as it was', async () => {
  const world = sharedWorld()
  const { trials, settings } = world.process()
  const before: SettingsDocument = {
    limits: { api: { limit: 200, window: '2m' }, day: { limit: 9 } },
    overrides: [],
  }
  await settings.change('api', before, bob)
  await trials.start(PLAN, ada)
  await trials.advance('api', world.pass(24 * HOUR_MS))
  await trials.approve('api', ada)
  expect((await settings.read('api')).limits).toEqual({ api: { limit: 60, window: '2m' }, day: { limit: 9 } })
  await trials.stop('api', bob)
  expect(await settings.read('api')).toEqual(before)
})

test('an attack that begins after the promotion does not take the limit back', async () => {
  const { world, trials } = await guardedWorld()
  const demand = world.pass(HOUR_MS)
  const attackers = demandSince(0, 0)
    .demands.slice(0, 15)
    .map((each, i) => {
      return { ...each, identity: `new-${i}`, peak: 5000 + i, wasDenied: true }
    })
  const kept = await trials.advance('api', { ...demand, demands: [...demand.demands, ...attackers] })
  expect(phaseOf(kept)).toEqual(['ended', 'kept'])
})

describe("an operator's change ends the trial, and stays", () => {
  const limits = { api: { limit: 500 } }

  test('of the limit, while the candidate runs: the candidate is removed', async () => {
    const world = sharedWorld()
    const { trials, settings } = world.process()
    await trials.start(PLAN, ada)
    await settings.change('api', (now) => ({ ...now, limits }), bob)
    const ended = await trials.advance('api')
    expect(textsOf(ended)).toEqual([
      'the trial of the limit of 60 for api ends, because its settings were changed',
      'the trial of the limit of 60 for api has ended, because its settings were changed; that change stays',
    ])
    expect(await settings.read('api')).toEqual({ limits, overrides: [] })
  })

  test('of the candidate, while it waits for approval', async () => {
    const { trials, settings } = await readyWorld()
    const candidate = { limits: { api: { limit: 70 } } }
    await settings.change('api', (now) => ({ ...now, candidate }), bob)
    expect(phaseOf(await trials.advance('api'))).toEqual(['ended', 'overridden'])
    expect(await settings.read('api')).toEqual({ limits: {}, overrides: [], candidate })
    await expect(trials.approve('api', ada)).rejects.toThrow('the trial must be ready, but it is ended')
  })

  test('at the very moment of the approval', async () => {
    const { world } = await readyWorld()
    const operator = world.process()
    let isFirst = true
    const { trials, settings } = world.process((inner) => ({
      async replace(key, text, version) {
        if (key !== KEY && isFirst) {
          isFirst = false
          await operator.settings.change('api', (now) => ({ ...now, limits }), bob)
        }
        return inner.replace(key, text, version)
      },
    }))
    expect(phaseOf(await trials.approve('api', ada))).toEqual(['ended', 'overridden'])
    expect(await settings.read('api')).toEqual({ limits, overrides: [] })
  })

  test('after the promotion', async () => {
    const { world, trials, settings } = await guardedWorld()
    await settings.change('api', (now) => ({ ...now, limits }), bob)
    const ended = await trials.advance('api', world.pass(HOUR_MS / 2, { denied: 50 }))
    expect(phaseOf(ended)).toEqual(['ended', 'overridden'])
    expect((await settings.read('api')).limits).toEqual(limits)
  })

  test('of something else, such as a block, does not end it', async () => {
    const { world, trials, settings } = await readyWorld()
    const overrides = [{ identity: 'mallory', block: true as const }]
    await settings.change('api', (now) => ({ ...now, mode: 'enforce', overrides }), bob)
    await trials.approve('api', ada)
    expect(phaseOf(await trials.advance('api', world.pass(HOUR_MS)))).toEqual(['ended', 'kept'])
    expect(await settings.read('api')).toEqual({ mode: 'enforce', limits: { api: { limit: 60 } }, overrides })
  })

  test('a candidate that is already there is not replaced, and no trial starts', async () => {
    const { trials, settings } = sharedWorld().process()
    const candidate = { limits: { api: { limit: 70 } } }
    await settings.change('api', (now) => ({ ...now, candidate }), bob)
    await expect(trials.start(PLAN, ada)).rejects.toThrow('tune: api must have no candidate in its settings.')
    expect(await trials.read('api')).toBeUndefined()
    expect((await settings.read('api')).candidate).toEqual(candidate)
  })
})

test('a slow process never repeats a step that another one took', async () => {
  const { world, trials, settings } = await guardedWorld()
  let go = () => {}
  const gate = new Promise<void>((resolve) => {
    go = resolve
  })
  let arrive = () => {}
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve
  })
  const slow = world.process((inner) => ({
    async replace(key, text, version) {
      if (key !== KEY) {
        arrive()
        await gate
      }
      return inner.replace(key, text, version)
    },
  }))
  const late = slow.trials.advance('api', world.pass(HOUR_MS / 6, { denied: 50 }))
  await arrived // it is about to change the settings back
  expect(phaseOf(await trials.advance('api'))).toEqual(['ended', 'reverted'])
  await settings.change('api', (now) => ({ ...now, limits: { api: { limit: 60 } } }), bob)
  go()
  expect(phaseOf(await late)).toEqual(['ended', 'reverted'])
  expect((await settings.read('api')).limits).toEqual({ api: { limit: 60 } }) // as bob said
})

test('of many processes that advance at once, one takes each step, and the settings change once', async () => {
  const world = sharedWorld()
  const processes = Array.from({ length: 8 }, () => world.process())
  const [first] = processes
  const all = async (act: (process: (typeof processes)[number]) => Promise<Advanced>) => {
    const results = await Promise.allSettled(processes.map(act))
    return results.flatMap((result) => (result.status === 'fulfilled' ? result.value.events : []))
  }
  const events = await all(({ trials }) => trials.start(PLAN, ada))
  const watched = world.pass(24 * HOUR_MS)
  events.push(...(await all(({ trials }) => trials.advance('api', watched))))
  events.push(...(await all(({ trials }) => trials.approve('api', ada))))
  const guarded = world.pass(HOUR_MS / 2, { denied: 100 })
  events.push(...(await all(({ trials }) => trials.advance('api', guarded))))
  const trial = await first?.trials.read('api')
  expect(trial).toMatchObject({ phase: 'ended', outcome: 'reverted' })
  expect(events.map(({ id }) => id).sort()).toEqual(trial?.events.map(({ id }) => id).sort())
  expect(trial?.events.map(({ details }) => details.phase)).toEqual([
    ...['starting', 'watching', 'ready', 'promoting', 'guarding', 'reverting', 'ended'],
  ])
  const changes = (await first?.settings.changes('api')) ?? []
  expect(changes.map(({ by, reason }) => [by, reason.replace(/ \(.*/, '')])).toEqual([
    [
      'tune',
      'tune: 60 for api is reverted, because the share of denied clients in good standing rose from 0% to 25%, by more than 1%',
    ],
    ['ada', 'tune: 60 for api is promoted'],
    ['ada', 'tune: 60 for api runs as a candidate'],
  ])
})

describe('the store fails', () => {
  const lost = new StoreError('memory', 'the reply was lost')

  /** Lets each nth write fail, before or after it is made. */
  function failing(every: number, when: 'before' | 'after') {
    let writes = 0
    return (inner: Documents): Partial<Documents> => ({
      async replace(key, text, version) {
        const fails = key === KEY && ++writes % every === 0
        if (fails && when === 'before') throw lost
        const made = await inner.replace(key, text, version)
        if (fails) throw lost
        return made
      },
    })
  }

  test('replies that are lost lose no event, and repeat no step', async () => {
    const world = sharedWorld()
    const { trials, settings } = world.process(failing(1, 'after'))
    const events = [...(await trials.start(PLAN, ada)).events]
    events.push(...(await trials.advance('api', world.pass(24 * HOUR_MS))).events)
    events.push(...(await trials.approve('api', ada)).events)
    events.push(...(await trials.advance('api', world.pass(HOUR_MS))).events)
    expect(events.map(({ details }) => details.phase)).toEqual([
      ...['starting', 'watching', 'ready', 'promoting', 'guarding', 'ended'],
    ])
    expect(await settings.changes('api')).toHaveLength(2)
  })

  test('a process that dies between its change of the settings and the next step leaves it to others', async () => {
    const { world } = await readyWorld()
    const dying = world.process(failing(2, 'before'))
    expect(textsOf(await dying.trials.approve('api', ada))).toEqual(['the limit of 60 for api was approved'])
    const { trials, settings } = world.process()
    expect((await trials.read('api'))?.phase).toBe('promoting')
    const advanced = await trials.advance('api')
    expect(advanced.events.map(({ details }) => details.phase)).toEqual(['guarding'])
    expect(await settings.changes('api')).toHaveLength(2)
  })

  test('while it cannot be read, nothing happens, and the trial goes on afterwards', async () => {
    const { world, trials } = await guardedWorld()
    const cutOff = world.process(() => ({ read: () => Promise.reject(lost) }))
    const demand = world.pass(HOUR_MS)
    await expect(cutOff.trials.advance('api', demand)).rejects.toThrow('the reply was lost')
    expect(phaseOf(await trials.advance('api', demand))).toEqual(['ended', 'kept'])
  })
})

test.each([
  ['a text of another program', 'hello'],
  ['a trial of another version', '{"writer":"x","trial":{"id":"1","phase":"waiting"}}'],
  ['a JSON value', 'null'],
])('%s under the key stays untouched', async (_, text) => {
  const world = sharedWorld()
  await world.documents.replace(KEY, text, undefined)
  const { trials, settings } = world.process()
  await expect(trials.start(PLAN, ada)).rejects.toThrow(
    `tune: ${KEY} must hold a trial, but it holds something else`,
  )
  const [found] = await world.documents.read([{ key: KEY }])
  expect([found?.text, await settings.changes('api')]).toEqual([text, []])
})

test('a limit that the limiter of this process cannot have is refused, with the reason', async () => {
  const { trials, settings } = sharedWorld().process()
  const policy = slidingLog({ limit: 100, window: '1m' })
  const limiter = createLimiter({ name: 'api', policy, key: (id: string) => id, settings })
  const refused = await trials.start({ ...PLAN, limit: 100_000 }, ada)
  await limiter.close()
  expect(phaseOf(refused)).toEqual(['ended', 'refused'])
  expect(textsOf(refused)[1]).toContain('has ended, because the settings do not accept it (settings: ')
  expect(await settings.read('api')).toEqual({ limits: {}, overrides: [] })
})

test('a limit named as a property of objects is tried like any other', async () => {
  const world = sharedWorld()
  const { trials, settings } = world.process()
  await trials.start({ ...PLAN, limitName: 'constructor' }, ada)
  await trials.advance('api', world.pass(24 * HOUR_MS))
  await trials.approve('api', ada)
  expect(Object.entries((await settings.read('api')).limits)).toEqual([['constructor', { limit: 60 }]])
  await trials.stop('api', ada)
  expect((await settings.read('api')).limits).toEqual({})
})

describe('wrong calls say what to do', () => {
  test.each([
    [{ limit: Number.NaN }, 'limit must be'],
    [{ limit: 1.5 }, 'limit must be'],
    [{ watchMs: -1 }, 'watchMs must be'],
    [{ guardMs: Number.POSITIVE_INFINITY }, 'guardMs must be'],
    [{ maxHarmedShare: 2 }, 'maxHarmedShare must be a share from 0 to 1, got 2'],
  ])('a plan with %j', async (wrong, message) => {
    const { trials } = sharedWorld().process()
    await expect(trials.start({ ...PLAN, ...wrong }, ada)).rejects.toThrow(message)
    expect(await trials.read('api')).toBeUndefined()
  })

  test('a second trial', async () => {
    const { trials } = await readyWorld()
    await expect(trials.start(PLAN, bob)).rejects.toThrow(
      'api must have no other trial, but one is ready. Stop it',
    )
  })

  test('an approval before its time, and of no trial', async () => {
    const { trials } = sharedWorld().process()
    await expect(trials.approve('api', ada)).rejects.toThrow('tune: api has no trial. Start one.')
    await trials.start(PLAN, ada)
    await expect(trials.approve('api', ada)).rejects.toThrow('Wait until the candidate has run for its time.')
  })

  test('no name of who wants it', async () => {
    const { trials } = sharedWorld().process()
    await expect(trials.start(PLAN, { by: '', reason: 'x' })).rejects.toThrow('by must be a string')
    expect(await trials.read('api')).toBeUndefined()
  })
})

test('stopping a trial that has ended does nothing', async () => {
  const { trials } = await readyWorld()
  expect(phaseOf(await trials.stop('api', bob))).toEqual(['ended', 'stopped'])
  expect(await trials.stop('api', bob)).toMatchObject({ events: [], trial: { outcome: 'stopped' } })
})

test('after a trial has ended, another one can start', async () => {
  const { trials } = await readyWorld()
  await trials.stop('api', bob)
  expect(phaseOf(await trials.start({ ...PLAN, limit: 90 }, ada))).toEqual(['watching', undefined])
})
