import { memoryStore, sharedSettings } from 'headgate'
import { customStore } from 'headgate/store'
import { actionsOn, finderIn } from '../../../../src/dashboard/server/actions.js'
import { RequestError } from '../../../../src/dashboard/server/respond.js'
import type { ActionFigures } from '../../../../src/dashboard/server/settings-actions.js'
import { undoAction } from '../../../../src/dashboard/server/undo-action.js'
import type { LimitDemand } from '../../../../src/tuning/client-demand.js'
import { type WatchedLimiter, watchedLimiter } from '../actions/watched.js'
import { givenFigures } from './page-figures.js'

const demand: LimitDemand = {
  limitName: 'api',
  policy: { kind: 'fixed-window', limit: 3, windowMs: 3_600_000 },
  limit: 3,
  windowMs: 3_600_000,
  fromMs: 0,
  toMs: 1,
  clients: 2,
  demands: [
    { identity: '203.0.113.1', peak: 9, weight: 1, wasDenied: true },
    { identity: '203.0.113.2', peak: 2, weight: 1, wasDenied: false },
  ],
}

/** Returns what sends an action, as the operator `ines`. */
function actions(given: WatchedLimiter, figures: Partial<ActionFigures> = {}) {
  const own = actionsOn([given.watched], {
    record: () => undefined,
    asOfNow: async () => givenFigures(),
    demands: async () => [demand],
    ...figures,
  })
  const undo = undoAction(finderIn([given.watched]), {
    trial: async () => undefined,
    stop: async () => undefined,
  })
  const all = new Map([...own, ['undo', undo]])
  return async (name: string, body: object, operator: string | undefined = 'ines') => {
    const req = { socket: { remoteAddress: '203.0.113.9' }, headers: {} }
    return all.get(name)?.run({ limiter: 'api', ...body }, { operator, req }) as Promise<
      Record<string, unknown>
    >
  }
}

const reason = 'a scraper'
const failure = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof RequestError)) throw new Error(`it did not fail as a request: ${String(error)}`)
  return { status: error.status, message: error.message, ...error.details }
}

test('a network is blocked with the warnings that were asked for first, and unblocked again', async () => {
  const given = watchedLimiter()
  const send = actions(given)
  const targets = [{ network: '203.0.113.0/24' }]
  const { warnings, raises, mode } = await send('proposal', { targets })
  expect(warnings).toEqual([
    '203.0.113.0/24 contains your own address, 203.0.113.9.',
    '1 client in 203.0.113.0/24 has had no denials in the last 12 to 24 hours.',
  ])
  expect({ raises, mode }).toMatchObject({ raises: [], mode: 'enforce' })
  const body = { targets, effect: 'block', durationMs: 3_600_000, base: null, reason }
  expect(await send('override', body)).toMatchObject({ count: 1 })
  expect((await given.limiter.charge('203.0.113.5')).source).toBe('blocked')
  const { limiters } = (await send('in-force', {})) as never as {
    limiters: { base: string; entries: { paths: string[] }[] }[]
  }
  const [{ base, entries } = { base: '', entries: [] }] = limiters
  await send('undo', { paths: entries[0]?.paths, base, reason: 'it is over' })
  expect((await given.limiter.charge('203.0.113.5')).allowed).toBe(true)
})

test('settings are read, previewed and saved, and a second operator sees the conflict', async () => {
  const send = actions(watchedLimiter())
  const read = await send('settings', {})
  expect(read).toMatchObject({ base: null, document: { limits: {} }, mode: 'enforce', changes: [] })
  const parts = [{ path: 'limits.api', value: { limit: 1 } }]
  expect(await send('preview', { parts })).toMatchObject({ limits: [{ wouldDeny: 2, newlyDeniedCount: 1 }] })
  const candidate = { path: 'candidate', value: { limits: { api: { limit: 1 } } } }
  expect(await send('preview', { parts: [candidate] })).toMatchObject({
    limits: [{ wouldDeny: 1 }],
    candidate: [{ wouldDeny: 2 }],
  })
  await send('save', { parts, base: null, reason })
  const other = send(
    'save',
    { parts: [{ path: 'limits.api', value: { limit: 9 } }], base: null, reason },
    'omar',
  )
  const conflict = await failure(other)
  expect(conflict).toMatchObject({
    status: 409,
    conflicts: [{ path: 'limits.api', theirs: { limit: 1 }, yours: { limit: 9 }, change: { by: 'ines' } }],
  })
  const { base } = await send('settings', {})
  expect(conflict).toHaveProperty('base', base)
  await send('save', { parts: [{ path: 'limits.api', value: { limit: 9 } }], base, reason }, 'omar')
  expect(await send('settings', {})).toMatchObject({ document: { limits: { api: { limit: 9 } } } })
  const undone = await failure(send('undo', { change: base, reason })) // omar has changed it since
  expect(undone).toMatchObject({
    status: 409,
    conflicts: [{ path: 'limits.api', before: { limit: 1 }, theirs: { limit: 9 }, change: { by: 'omar' } }],
  })
  expect(await send('settings', {})).toMatchObject({ document: { limits: { api: { limit: 9 } } } })
  const nevertheless = (version: unknown) => send('undo', { change: base, over: version, reason })
  expect(await failure(nevertheless(base))).toMatchObject({ status: 409 })
  await nevertheless((undone as unknown as { base: string }).base)
  expect(await send('settings', {})).toMatchObject({ document: { limits: {} } })
  expect(await failure(send('undo', { change: 'never', over: base, reason }))).toMatchObject({ status: 400 })
})

test('a preview whose figures do not come in time fails with the name of the store', async () => {
  jest.useFakeTimers()
  try {
    const send = actions(watchedLimiter(), { demands: () => new Promise(() => {}) })
    const preview = failure(send('preview', { parts: [{ path: 'mode', value: 'report' }] }))
    await jest.advanceTimersByTimeAsync(1000)
    expect(await preview).toEqual({ status: 503, message: 'memory: no reply within 1000 ms' })
  } finally {
    jest.useRealTimers()
  }
})

test('a change of the mode is previewed: enforcing denies those over the limit, and reporting nobody', async () => {
  const given = watchedLimiter()
  const send = actions(given)
  const preview = (value: string) => send('preview', { parts: [{ path: 'mode', value }] })
  const named = [{ identity: '203.0.113.1', peak: 9 }]
  expect(await preview('report')).toMatchObject({
    limits: [{ denied: 1, wouldDeny: 0, newlyDenied: [], noLongerDenied: named }],
  })
  given.limiter.mode = 'report'
  expect(await preview('enforce')).toMatchObject({
    limits: [{ denied: 0, wouldDeny: 1, newlyDenied: named, noLongerDenied: [] }],
  })
})

describe('an override of acme that another operator has overridden', () => {
  const targets = [{ identity: 'acme' }]
  const raise = { targets, effect: 'raise', limits: { api: { limit: 5000 } }, durationMs: 86_400_000 }
  const block = { targets, effect: 'block', durationMs: 3_600_000 }
  const ada = { ...raise, reason: 'launch' }
  const bob = { ...block, reason: 'attack' }

  test('meanwhile is a 409 that says what is in force, and replaces it if it is sent again', async () => {
    const given = watchedLimiter()
    const send = actions(given)
    const { base, replaces } = await send('proposal', { targets }) // both have the dialog open
    expect({ base, replaces }).toEqual({ base: null, replaces: [] })
    await send('override', { ...ada, base }, 'ada')
    const conflict = await failure(send('override', { ...bob, base }, 'bob'))
    expect(conflict).toMatchObject({
      status: 409,
      conflicts: [{ theirs: { limits: { api: { limit: 5000 } } }, change: { by: 'ada', reason: 'launch' } }],
    })
    expect((await given.settings.read('api')).overrides).toMatchObject([{ limits: { api: { limit: 5000 } } }])
    const again = await send('proposal', { targets })
    expect(again).toMatchObject({
      base: (conflict as { base?: string }).base,
      replaces: [
        { kind: 'raise', targets: ['acme'], value: { api: { limit: 5000 } }, by: 'ada', reason: 'launch' },
      ],
    })
    await send('override', { ...bob, base: again.base }, 'bob')
    expect((await given.settings.read('api')).overrides).toMatchObject([{ identity: 'acme', block: true }])
  })

  test('is made once if it is sent twice, and others do not stand in its way', async () => {
    const given = watchedLimiter()
    const send = actions(given)
    const other = { ...bob, targets: [{ network: '192.0.2.0/24' }], base: null }
    for (const body of [other, { ...ada, base: null, id: 'one' }, { ...ada, base: null, id: 'one' }])
      await send('override', body)
    expect((await given.settings.changes('api')).map(({ partCount }) => partCount)).toEqual([1, 1])
  })

  test('before is shown for a client as it is listed, too, and nothing of other clients', async () => {
    const given = watchedLimiter()
    const send = actions(given)
    await given.limiter.charge('acme')
    await send('override', { ...ada, base: null })
    const [{ storedIdentity = '' } = {}] = (await given.settings.read('api')).overrides
    const replacedBy = async (target: object) =>
      ((await send('proposal', { targets: [target] })).replaces as object[]).length
    expect([
      await replacedBy({ storedIdentity }),
      await replacedBy({ identity: ' acme ' }),
      await replacedBy({ identity: 'zoe' }),
    ]).toEqual([1, 1, 0])
  })
})

test('an override is previewed by its targets, and changes nothing', async () => {
  const send = actions(watchedLimiter())
  const preview = async (body: object) => (await send('preview', body)).limits as readonly object[]
  const [first, second] = ['203.0.113.1', '203.0.113.2'].map((identity) => ({ storedIdentity: identity }))
  const newly = [{ identity: '203.0.113.2', peak: 2 }]
  const noLonger = [{ identity: '203.0.113.1', peak: 9 }]
  expect([
    ...(await preview({ targets: [first, second], effect: 'block' })),
    ...(await preview({ targets: [{ network: '203.0.113.0/24' }], effect: 'block' })),
    ...(await preview({ targets: [first], effect: 'exempt' })),
    ...(await preview({ targets: [first], effect: 'raise', limits: { api: { limit: 9 } } })),
    ...(await preview({ targets: [first], effect: 'raise', limits: { api: { limit: 8 } } })),
  ]).toMatchObject([
    { newlyDenied: newly, noLongerDenied: [], wouldDeny: 2 },
    { newlyDenied: newly, noLongerDenied: [], wouldDeny: 2 },
    { newlyDenied: [], noLongerDenied: noLonger, wouldDeny: 0 },
    { newlyDenied: [], noLongerDenied: noLonger, wouldDeny: 0 },
    { newlyDenied: [], noLongerDenied: [], wouldDeny: 1 },
  ])
  expect(await send('settings', {})).toMatchObject({ base: null, changes: [] })
  const wrong = [
    { targets: [], effect: 'block' },
    { targets: [first], effect: 'praise' },
    { targets: [{ network: 'x' }], effect: 'block' },
    { parts: [{ path: 'limits.api', value: { window: 'soon' } }] },
    {},
  ]
  const failures = await Promise.all(wrong.map((body) => failure(send('preview', body))))
  expect(failures.map(({ status }) => status)).toEqual(wrong.map(() => 400))
})

test('parts are removed with null, and overrides are added by their target', async () => {
  const send = actions(watchedLimiter())
  const override = { network: '10.0.0.0/8', exempt: true }
  const parts = [
    { path: 'mode', value: 'report' },
    { path: 'override', value: override },
  ]
  await send('save', { parts, base: null, reason })
  const { base, changes } = (await send('settings', {})) as never as {
    base: string
    changes: { parts: { path: string }[] }[]
  }
  const paths = changes[0]?.parts.map(({ path }) => path) ?? []
  expect(paths).toEqual(['mode', 'overrides[network="10.0.0.0/8"]'])
  await send('save', { parts: paths.map((path) => ({ path, value: null })), base, reason })
  expect(await send('in-force', {})).toMatchObject({ limiters: [{ entries: [] }] })
})

test.each([
  [
    'override',
    { targets: [{ identity: 'a' }], effect: 'block', durationMs: 3_600_000 },
    'A reason is required: add reason',
  ],
  [
    'override',
    { targets: [{ identity: 'a' }], effect: 'block', durationMs: 3_600_000, reason: ' ' },
    'A reason',
  ],
  [
    'override',
    { targets: [{ identity: 'a' }], effect: 'block', durationMs: 3_600_000, reason: 'x'.repeat(501) },
    'reason must',
  ],
  [
    'override',
    { targets: [{ identity: 'a' }], effect: 'block', durationMs: 5, base: null, reason },
    'durationMs must be',
  ],
  [
    'override',
    { targets: [{ identity: 'a' }], effect: 'destroy', durationMs: 3_600_000, base: null, reason },
    'effect must',
  ],
  [
    'override',
    {
      targets: [{ identity: 'a' }],
      effect: 'raise',
      limits: { api: { limit: -1 } },
      durationMs: 3_600_000,
      base: null,
      reason,
    },
    'limit must',
  ],
  ['override', { targets: [], effect: 'block', durationMs: 3_600_000, reason }, 'targets must'],
  ['override', { targets: [{ identity: 'a' }], effect: 'exempt', durationMs: null, reason }, 'base must'],
  ['save', { parts: [{ path: 'limits.api', value: { limit: 1 } }], reason }, 'base must'],
  ['save', { parts: [{ path: 'constructor', value: 1 }], base: null, reason }, 'parts[0].path must'],
  ['save', { parts: [], base: null, reason }, 'parts must'],
  ['save', { parts: [{ path: 'limits.api', value: { limit: 'x' } }], base: null, reason }, 'limits.api'],
  ['undo', { reason }, 'undo needs'],
  ['undo', { change: 'never', reason }, 'there is no change'],
  ['undo', { paths: ['nope'], base: null, reason }, 'nope was not in force when it was listed'],
  ['undo', { paths: ['__proto__'], base: null, reason }, '__proto__ was not in force'],
  ['undo', { paths: ['mode'], base: 'gone', reason }, 'the history does not reach back'],
  ['undo', { paths: ['mode'], base: 'gone', over: null, reason }, 'the history does not reach back'],
  ['undo', { paths: ['mode'], base: null, over: 7, reason }, 'base must be'],
])('%s of %j is a 400', async (name, body, message) => {
  const given = watchedLimiter()
  expect(await failure(actions(given)(name, body))).toMatchObject({
    status: 400,
    message: expect.stringContaining(message),
  })
  expect(await given.settings.changes('api')).toEqual([])
})

test('a change needs a name, which the option operator or the page gives', async () => {
  const given = watchedLimiter()
  const all = actionsOn([given.watched], {
    record: () => undefined,
    asOfNow: async () => givenFigures(),
    demands: async () => [],
  })
  const body = {
    limiter: 'api',
    targets: [{ identity: 'a' }],
    effect: 'block',
    durationMs: 3_600_000,
    reason,
  }
  const sender = { operator: undefined, req: undefined }
  const override = (own: object) =>
    all.get('override')?.run({ ...body, base: null, ...own }, sender) as Promise<object>
  expect(await failure(override({}))).toMatchObject({
    status: 400,
    message: expect.stringContaining('who you are'),
  })
  expect(await failure(override({ by: ' Tune' }))).toMatchObject({
    status: 400,
    message: '"Tune" is reserved for changes that trials make. Enter another name.',
  })
  await override({ by: 'ada' })
  expect(await given.settings.changes('api')).toMatchObject([{ by: 'ada' }])
})

test('actions that change something are marked', () => {
  const all = actionsOn([watchedLimiter().watched], {
    record: () => undefined,
    asOfNow: async () => givenFigures(),
    demands: async () => [],
  })
  const changes = Array.from(all).flatMap(([name, { isChange }]) => (isChange ? [name] : []))
  expect(changes).toEqual(['release', 'override', 'save'])
  expect(Array.from(all.keys()).length - changes.length).toBe(5)
})

test.each(['x', '__proto__', '203.0.113.0/33'])('a proposal for the network %s is a 400', async (network) => {
  const send = actions(watchedLimiter())
  await expect(send('proposal', { targets: [{ network }] })).rejects.toMatchObject({ status: 400 })
})

test('a proposal waits a second at most for a store that hangs, and says that the settings were not read', async () => {
  const hang = () => new Promise<never>(() => undefined)
  const memory = memoryStore()
  const documents = { read: hang, replace: hang }
  const settings = sharedSettings(
    customStore({ name: 'redis', apply: (all) => memory.apply(all), documents }),
  )
  const given = watchedLimiter({ settings })
  const send = actions(given, { demands: hang })
  const proposal = await send('proposal', { targets: [{ network: '192.0.2.0/24' }] })
  expect(proposal).toMatchObject({
    warnings: [],
    notes: ['The other clients in 192.0.2.0/24 could not be read.'],
  })
  expect(proposal).not.toHaveProperty('base')
  await given.limiter.close()
})
