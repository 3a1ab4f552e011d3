import {
  createLimiter,
  fixedWindow,
  leased,
  SettingsConflictError,
  type Store,
  sharedSettings,
} from 'headgate'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { until } from '../../support/servers/wait.js'
import { STORES, type Started } from '../store-kinds.js'

const PROCESSES = 4
const CHANGES = 5
const ada = { by: 'ada', reason: 'a test' }

describe.each(STORES)('on $name', (kind) => {
  let started: Started
  let stores: readonly Store[]
  beforeAll(async () => {
    started = await kind.start()
    stores = await Promise.all(Array.from({ length: PROCESSES }, () => started.makeStore()))
  }, INSTALL_TIMEOUT_MS)
  afterAll(() => started?.stop())

  test('a limiter follows what another process changes', async () => {
    const [store, other] = stores as [Store, Store]
    const follower = kind.name === 'memory' ? store : leased(store, { processes: 4 })
    const limiter = createLimiter<string>({
      name: 'followed',
      policy: fixedWindow({ limit: 5, window: '1h' }),
      key: (id) => id,
      store: follower,
      timeout: '5s',
      settings: sharedSettings(follower),
    })
    try {
      expect((await limiter.charge('acme')).limit).toBe(5)
      await sharedSettings(other).change(
        'followed',
        (document) => {
          document.limits.followed = { limit: 50 }
          document.overrides.push({ identity: 'mallory', block: true })
          return document
        },
        ada,
      )
      await until('the limiter follows', () => limiter.describe().settings !== undefined, { everyMs: 10 })
      expect((await limiter.charge('acme')).limit).toBe(50)
      expect((await limiter.charge('mallory')).source).toBe('blocked')
      expect(limiter.describe().settings).toMatchObject(ada)
    } finally {
      await limiter.close()
    }
  })

  test('concurrent changes of four processes lose nothing, and each is recorded once', async () => {
    const names = Array.from({ length: PROCESSES * CHANGES }, (_, i) => `tenant-${i}`)
    await Promise.all(
      names.map((identity, i) =>
        sharedSettings(stores[i % PROCESSES] as Store).change(
          'changed',
          ({ overrides }) => ({ overrides: [...overrides, { identity, exempt: true }] }),
          { by: `process ${i % PROCESSES}`, reason: identity },
        ),
      ),
    )
    const settings = sharedSettings(stores[0] as Store)
    const { overrides } = await settings.read('changed')
    expect(overrides.map(({ identity }) => identity).toSorted()).toEqual(names.toSorted())
    const changes = await settings.changes('changed')
    expect(changes.map(({ reason }) => reason).toSorted()).toEqual(names.toSorted())
  })
  test('of changes based on one version, one is made for each part, and one undo of each', async () => {
    const settings = stores.map((store) => sharedSettings(store))
    const outcomes = await Promise.allSettled(
      settings.map((each, i) =>
        each.change(
          'based',
          { limits: { shared: { limit: i + 1 } }, mode: 'report' },
          { ...ada, basedOn: null },
        ),
      ),
    )
    const failures = (of: readonly PromiseSettledResult<unknown>[]) =>
      of.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
    expect(failures(outcomes).map((error) => error instanceof SettingsConflictError)).toEqual(
      Array.from({ length: PROCESSES - 1 }, () => true),
    )
    const parallel = await Promise.allSettled(
      settings.map((each, i) =>
        each.change('based', { limits: { [`own-${i}`]: { limit: 1 } } }, { ...ada, basedOn: null }),
      ),
    )
    expect(failures(parallel)).toEqual([])
    const [first] = settings
    const changes = (await first?.changes('based')) ?? []
    expect(changes).toHaveLength(1 + PROCESSES)
    const undone = await Promise.allSettled(
      settings.map((each) => each.undo('based', changes.at(-1)?.id ?? '', ada)),
    )
    expect(failures(undone)).toHaveLength(PROCESSES - 1)
    expect(Object.keys((await first?.read('based'))?.limits ?? {}).toSorted()).toEqual(
      settings.map((_, i) => `own-${i}`),
    )
  })
})
