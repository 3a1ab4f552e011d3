import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLimiter, fixedWindow, memoryStore, type Store, sharedSettings } from 'headgate'
import type { Documents } from 'headgate/store'
import { connectStore } from '../../../src/cli/keys/connection.js'
import { isLive, parseLiveArguments } from '../../../src/cli/tune/live-arguments.js'
import { LimiterWatch } from '../../../src/dashboard/figures/limiter-watch.js'
import { withDemands } from '../../../src/dashboard/shared/demand/add-demands.js'
import { DEMAND_CODEC } from '../../../src/dashboard/shared/demand/demand-codec.js'
import { demandKey } from '../../../src/dashboard/shared/demand/demand-document.js'
import { eventLog } from '../../../src/dashboard/shared/event-log.js'
import { ProcessWriter } from '../../../src/dashboard/shared/process-document.js'
import { inspectionOf } from '../../../src/limiter/inspection.js'
import { sharedTrials } from '../../../src/tuning/trial/shared-trials.js'
import { DistinctCounter } from '../../../src/util/distinct-sample.js'
import { demandSince } from '../tuning/trial/trial-processes.js'
import { failureOf, mustRun } from './run-command.js'

jest.mock('../../../src/cli/keys/connection.js')

const URL = 'redis://127.0.0.1:6379'
const WHY = ['--reason', 'most ask for less', '--by', 'ada']
/** The start of half a day. */
const STEP = 5_966_496
const DAY_MS = 86_400_000

let store: Store
let documents: Documents

beforeEach(async () => {
  store = memoryStore()
  documents = store.documents as Documents
  jest.mocked(connectStore).mockImplementation(async () => ({ store, close: () => undefined }) as never)
  await documents.replace(
    'hg:limits:api',
    JSON.stringify({
      limits: [
        { scope: 'api:fw', spec: fixedWindow({ limit: 100, window: '1m' }).spec },
        { scope: 'api/_candidate:fw', spec: fixedWindow({ limit: 7, window: '1m' }).spec },
      ],
    }),
    undefined,
  )
})
afterEach(() => jest.restoreAllMocks())

/** Has dashboards count clients with these peaks, of a limit of 100 and of one before it. */
async function count(peaks: Readonly<Record<string, number>>, limiter = 'api'): Promise<void> {
  const demandsOf = (limit: number, own: Readonly<Record<string, number>>) => {
    const clients = new DistinctCounter(1000)
    const demands = Object.entries(own).map(([identity, peak]) => {
      clients.add(identity)
      return { identity, peaks: [peak], seen: 0, wasDenied: peak > limit }
    })
    return {
      limitName: limiter,
      policy: { kind: 'fixed-window', limit, windowMs: 60_000 } as const,
      clients,
      demands,
    }
  }
  const demands = [demandsOf(50, { old: 49 }), demandsOf(100, peaks)]
  const steps = [STEP, STEP + 250].map((step) => ({ step, allowed: 0, denied: 0, demands }))
  const made = withDemands(undefined, 'one', steps)
  const text = JSON.stringify({ headgate: 1, ...DEMAND_CODEC.encode(made as never) })
  await documents.replace(demandKey('hg', limiter), text, undefined)
}

const crowd = (peak: number) =>
  Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`client-${i}`, peak]))
const phaseOf = async () => {
  const trials = sharedTrials({ name: 'redis', documents }, sharedSettings(store))
  return (await trials.read('api'))?.phase
}

describe('the arguments', () => {
  test('are about live traffic if they name a store or a step of a trial', () => {
    const all = [
      ['redis://a'],
      ['./store.js'],
      ['store.mts', 'api'],
      ['start', 'api'],
      ['strat', 'rediss://a'],
    ]
    expect(all.map(isLive)).toEqual([true, true, true, true, true])
    expect([['access.log'], ['-'], [], ['app.js.log'], ['store']].map(isLive)).toEqual([
      false,
      false,
      false,
      false,
      false,
    ])
  })

  test.each<readonly [readonly string[], string]>([
    [['strat', URL], 'unknown command "tune strat"; did you mean start?'],
    [['http://127.0.0.1'], 'the store must be a URL such as redis://'],
    [['start', 'api'], 'no store given'],
    [['start', URL], 'no limiter given, such as tune start redis://127.0.0.1:6379 api'],
    [['start', 'redis://:secret@127.0.0.1'], 'no limiter given, such as tune start <store> api'],
    [[URL, 'a', 'b'], 'expected one limiter, got 2'],
    [[URL, 'a b'], '"a b" is not the name of a limiter'],
    [[URL, '--window', '1m'], 'unknown option "--window"'],
    [[URL, '--limit', '5'], '--limit is an option of tune start'],
    [['status', URL, 'api', '--reason', 'x'], '--reason is an option of tune start, approve and stop'],
    [['approve', URL, 'api', '--for', '1d', ...WHY], '--for is an option of tune start'],
    [['start', URL, 'api', '--limit', '5'], '--reason is required'],
    [['stop', URL, 'api', '--reason', ' '], '--reason is required'],
    [['start', URL, 'api', ...WHY], '--limit is required'],
    [['stop', URL, 'api', ...WHY, '--by', 'tune'], '--by "tune" is reserved for changes that trials make'],
    [['start', URL, 'api', '--limit', '1e3', ...WHY], '--limit must be a whole number from 1, got "1e3"'],
    [['start', URL, 'api', '--limit', '0', ...WHY], '--limit must be a whole number from 1'],
    [['start', URL, 'api', '--limit', '5', '--for', '60', ...WHY], '--for must be a duration with a unit'],
    [
      ['start', URL, 'api', '--limit', '5', '--max-denied', '1', ...WHY],
      '--max-denied must be a share such as 1%',
    ],
    [['start', URL, 'api', '--limit', '5', '--max-denied', '101%', ...WHY], '--max-denied must be a share'],
    [[URL, '--prefix', 'a:'], '--prefix must end in a name'],
  ])('%j are wrong', (args, problem) => {
    expect(() => parseLiveArguments(args, {})).toThrow(problem)
  })

  test('name what is tried, for how long, and when it is reverted', () => {
    const env = { HEADGATE_STORE: URL }
    expect(parseLiveArguments(['start', 'api', '--limit', '5', ...WHY], env)).toMatchObject({
      ...{ action: 'start', limiter: 'api', prefix: 'hg', keyPrefix: '', by: 'ada' },
      trial: { limit: 5, watchMs: DAY_MS, guardMs: 3_600_000, maxHarmedShare: 0.01 },
    })
    const all = ['--for', '2d', '--guard', '3h', '--max-denied', '0.5%', '--name', 'ip', '--prefix', 'app:x']
    expect(parseLiveArguments(['start', './s.js', 'api', '--limit', '5', ...all, ...WHY], env)).toMatchObject(
      {
        ...{ store: { module: join(process.cwd(), 's.js') }, prefix: 'x', keyPrefix: 'app:' },
        trial: { limitName: 'ip', watchMs: 2 * DAY_MS, guardMs: 10_800_000, maxHarmedShare: 0.005 },
      },
    )
  })
})

describe('proposals', () => {
  test('say since when clients are counted, how many there are, and how to try the limit, as in docs/tune.md', async () => {
    await count({ ...crowd(12), scraper: 900 })
    const text = await mustRun('tune', URL, 'api')
    const page = readFileSync(join(__dirname, '../../../docs/tune.md'), 'utf8')
    const [, shown] = /npx headgate tune redis:\S+ api\n```\n\n```text\n([^`]+)```/.exec(page) ?? []
    expect(text).toBe(shown)
  })

  test('are of the limit in force, for a limiter or for all that dashboards have reported', async () => {
    await count(crowd(12))
    const one = JSON.parse(await mustRun('tune', URL, 'api', '--json'))
    expect(one.limiters).toMatchObject([{ limiter: 'api', proposals: [{ inForce: 100, clients: 400 }] }])
    const header = {
      ...{ id: 'a', host: 'web', pid: 1, version: '1', startedAtMs: 1, dashboard: 0, atMs: 1, everyMs: 1 },
    }
    const reports = ['login', 'api'].map((name) => {
      const limiter = createLimiter<string>({
        name,
        policy: fixedWindow({ limit: 1, window: '1m' }),
        key: (id) => id,
      })
      const watch = new LimiterWatch({ name, limiter, inspection: inspectionOf(limiter) as never })
      watch.stop()
      return watch.report()
    })
    await documents.replace(
      'hg:dashboard:processes/0',
      new ProcessWriter().figures(header, reports),
      undefined,
    )
    const all = JSON.parse(await mustRun('tune', URL, '--json'))
    expect(all.limiters).toEqual([one.limiters[0], { limiter: 'login', proposals: [] }])
    expect(await mustRun('tune', URL)).toContain('limiter       login\nclients       not counted yet\n')
  })

  test('fail with the reason if nothing is known', async () => {
    expect(await failureOf('tune', URL)).toEqual([
      1,
      'no dashboard has reported under the prefix hg in the last 15 minutes',
    ])
    const [code, line] = await failureOf('tune', URL, 'api')
    expect([code, line]).toEqual([1, expect.stringContaining('no dashboard has counted clients of api')])
    await documents.replace(demandKey('hg', 'login'), 'hello', undefined)
    expect(await failureOf('tune', URL, 'login')).toEqual([
      1,
      expect.stringContaining('a value of another program'),
    ])
    expect(await failureOf('tune', './no-such-store.js')).toEqual([
      1,
      expect.stringMatching(/^cannot load a store from .*no-such-store\.js: /),
    ])
  })

  test('fail if the store fails', async () => {
    jest.spyOn(documents, 'read').mockRejectedValue(new Error('connection lost'))
    for (const args of [[], ['api']])
      expect(await failureOf('tune', URL, ...args)).toEqual([1, expect.stringContaining('connection lost')])
  })

  test('never show the password of a store', async () => {
    await count(crowd(12))
    const text = await mustRun('tune', 'redis://:secret@127.0.0.1', 'api')
    expect(text).toContain('npx headgate tune start <store> api')
    expect(text).not.toContain('secret')
  })
})

describe('a store in a module', () => {
  test('is read as one on Redis', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tune-'))
    const path = join(folder, 'store.cjs')
    writeFileSync(path, "module.exports = require('headgate').memoryStore()")
    expect(await failureOf('tune', path)).toEqual([1, expect.stringContaining('no dashboard has reported')])
    writeFileSync(
      join(folder, 'bare.cjs'),
      "module.exports = require('headgate/store').customStore({ name: 'bare', apply: async () => [] })",
    )
    expect(await failureOf('tune', join(folder, 'bare.cjs'))).toEqual([
      1,
      'the store bare has no documents, so dashboards keep nothing in it',
    ])
    rmSync(folder, { recursive: true })
  })
})

describe('a trial', () => {
  const start = (...args: readonly string[]) =>
    mustRun('tune', 'start', URL, 'api', '--limit', '10', ...args, ...WHY)

  test('is started with the clients that stand apart, and logged', async () => {
    await count({ ...crowd(12), scraper: 900 })
    const text = await start('--for', '2h')
    expect(text).toContain('limit         10 for api\nstate         runs as a candidate for 2h, until ')
    expect(text).toContain(`to stop it    npx headgate tune stop ${URL} api --reason <text>`)
    const { trial } = JSON.parse(await mustRun('tune', 'status', URL, 'api', '--json'))
    expect(trial).toMatchObject({ phase: 'watching', apart: ['scraper'], apartFrom: 900, watchMs: 7_200_000 })
    expect((await sharedSettings(store).read('api')).candidate).toEqual({ limits: { api: { limit: 10 } } })
    const log = eventLog(documents, 'hg')
    await log.read()
    expect(log.events().map(({ kind, by, details }) => [kind, by, details?.phase])).toEqual([
      ['tune', 'ada', 'starting'],
      ['tune', undefined, 'watching'],
    ])
  })

  test('is approved once it has run, and stopped', async () => {
    await start()
    const [code, line] = await failureOf('tune', 'approve', URL, 'api', ...WHY)
    expect([code, line]).toEqual([1, expect.stringContaining('must be ready, but it is watching')])
    const now = () => Date.now() + DAY_MS
    const trials = sharedTrials({ name: 'redis', documents }, sharedSettings(store), { now })
    await trials.advance('api', demandSince(0, now()))
    const ready = await mustRun('tune', 'status', URL, 'api')
    expect(ready).toContain('state         waits for approval\nwould deny    ')
    expect(ready).toContain(`to approve it npx headgate tune approve ${URL} api --reason <text>`)
    expect(await mustRun('tune', 'approve', URL, 'api', ...WHY)).toContain(
      'state         is in force, and is reverted',
    )
    expect((await sharedSettings(store).read('api')).limits).toEqual({ api: { limit: 10 } })
    expect(await mustRun('tune', 'stop', URL, 'api', ...WHY)).toContain('state         ended: stopped')
    expect((await sharedSettings(store).read('api')).limits).toEqual({})
  })

  test('whose steps no process takes says what is missing', async () => {
    await start('--for', '1h')
    const nowMs = Date.now()
    jest.spyOn(Date, 'now').mockReturnValue(nowMs + 2 * 3_600_000)
    expect(await mustRun('tune', 'status', URL, 'api')).toContain('is a dashboard running?')
  })

  test('is not started for a limit that cannot be tried', async () => {
    const failed = async (...args: readonly string[]) =>
      (await failureOf('tune', 'start', URL, ...args, ...WHY))[1]
    expect([
      await failed('login', '--limit', '5'),
      await failed('api', '--limit', '5', '--name', 'ip'),
      await failed('api', '--limit', '100'),
    ]).toEqual([
      'no process has published limits of login under the prefix hg',
      '--name must name a limit of api: api',
      '100 is already the limit in force for api',
    ])
    expect(await phaseOf()).toBeUndefined()
    await start()
    expect(await failed('api', '--limit', '5')).toContain('must have no other trial, but one is watching')
  })

  test('that never existed is not a failure', async () => {
    expect(await mustRun('tune', 'status', URL, 'api')).toBe('api has had no trial\n')
    expect(JSON.parse(await mustRun('tune', 'status', URL, 'api', '--json'))).toEqual({
      limiter: 'api',
      trial: null,
    })
  })
})
