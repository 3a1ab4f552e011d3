import { sharedSettings } from 'headgate'
import { redisStore } from 'headgate/redis'
import type { Documents } from 'headgate/store'
import type { LoggedEvent } from '../../../src/dashboard/figures/logged-event.js'
import { eventLog } from '../../../src/dashboard/shared/event-log.js'
import { runHere } from '../../support/run-command.js'
import { until } from '../../support/servers/wait.js'
import { LIMIT, type TrialCommands } from './trial-process.js'
import { useRedis } from './use-redis.js'

const STEP_MS = 300_000
/** The start of a step, and so long after it that every process has added the step before. */
const START_MS = 5_966_600 * STEP_MS
const WHY = ['--by', 'ada', '--reason', 'tune said so']

/** A process that a test has started. */
export interface StartedProcess extends TrialCommands {
  /** Ends it, without letting it finish what it does. */
  kill(): Promise<void>
}

/** Starts a process on a server of Redis, with a clock that stands still. */
export type StartProcess = (url: string, id: string, nowMs: number) => Promise<StartedProcess>

/** Defines the tests of trials by command, whose steps four processes take. */
export function describeLiveTrials(
  start: StartProcess,
  setTime: (nowMs: number) => void,
  isLong: boolean,
): void {
  const redis = useRedis()
  let processes: StartedProcess[]
  let nowMs: number

  beforeEach(async () => {
    await redis.client.flushdb()
    nowMs = START_MS
    setTime(nowMs)
    const ids = ['one', 'two', 'three', 'four']
    processes = await Promise.all(ids.map((id) => start(redis.server.url, id, nowMs)))
  })
  afterEach(async () => {
    await Promise.all(processes.map((each) => each.kill()))
  })

  const storeUrl = () => `redis://${redis.server.url.replace(/^redis:\/\//, '')}`
  const all = <T>(run: (process: StartedProcess) => Promise<T>) => Promise.all(processes.map(run))

  /** Runs a command that must succeed. */
  async function tune(...args: readonly string[]): Promise<string> {
    const [first = '', ...rest] = args
    const { code, stdout, stderr } = await runHere(['tune', first, storeUrl(), 'api', ...rest])
    expect([code, stderr]).toEqual([0, ''])
    return stdout
  }

  /** Lets time pass in steps, in which all processes do what they do at all times. */
  async function pass(ms: number): Promise<void> {
    for (const endMs = nowMs + ms; nowMs < endMs; ) {
      nowMs += STEP_MS / 5
      setTime(nowMs)
      await all((each) => each.setTime(nowMs))
      await all((each) => each.tick())
    }
  }

  const applied = (limit: number) =>
    until(`all processes apply ${limit}`, async () =>
      (await all((each) => each.limits())).every(([own]) => own === limit),
    )

  const store = () => redisStore(redis.client)
  const settings = () => sharedSettings(store())

  async function phases(): Promise<readonly (readonly unknown[])[]> {
    await all((each) => each.tick())
    const log = eventLog(store().documents as Documents, 'hg')
    await log.read()
    const steps = log.events().filter(({ kind }) => kind === 'tune')
    return steps.map(({ details, by, reason }: LoggedEvent) => [details?.phase, by, reason].filter(Boolean))
  }

  const names = (prefix: string) => Array.from({ length: 60 }, (_, i) => `${prefix}-${i}`)

  test('a limit that denies customers is reverted, although the process that promoted it was killed', async () => {
    const customers = names('customer')
    const [first] = processes
    await all((each) => each.charge(customers, 2))
    await first?.charge(['scraper'], 10 * LIMIT)
    await pass(2 * STEP_MS)
    const proposed = JSON.parse((await runHere(['tune', storeUrl(), 'api', '--json'])).stdout)
    expect(proposed.limiters).toMatchObject([
      {
        limiter: 'api',
        proposals: [{ inForce: LIMIT, clients: 61, crowd: { clients: 60, largestPeak: 8 } }],
      },
    ])
    expect(proposed.limiters[0].proposals[0].apart).toMatchObject({ clients: 1, largestPeak: 10 * LIMIT })

    await tune('start', '--limit', '5', '--for', '10m', '--guard', '30m', ...WHY)
    await pass(4 * STEP_MS)
    expect(await tune('status')).toContain('would deny    60 of 61 clients')
    await tune('approve', ...WHY)
    await applied(5)
    await first?.kill()
    processes = processes.slice(1)
    await all((each) => each.charge(customers, 1))
    await pass(2 * STEP_MS)
    await applied(LIMIT)

    expect(await phases()).toEqual([
      ['starting', 'ada', 'tune said so'],
      ['watching'],
      ['ready'],
      ['promoting', 'ada', 'tune said so'],
      ['guarding'],
      ['reverting'],
      ['ended'],
    ])
    expect(await tune('status')).toContain('state         ended: reverted')
    expect(await settings().changes('api')).toHaveLength(3)
    expect(await settings().read('api')).toEqual({ limits: {}, overrides: [] })
  })

  if (!isLong) return

  test('a limit that was in force an hour before is judged by what it does now', async () => {
    await all((each) => each.charge(names('old'), LIMIT / 2)) // 40 each, of which 20 are denied
    await pass(2 * STEP_MS)
    await settings().change('api', { limits: { api: { limit: 100 } } }, { by: 'bob', reason: 'a launch' })
    await applied(100)
    await all((each) => each.charge(names('new'), 2))
    await pass(12 * STEP_MS)
    await tune('start', '--limit', String(LIMIT), '--for', '10m', '--guard', '30m', ...WHY)
    await pass(4 * STEP_MS)
    await tune('approve', ...WHY)
    await applied(LIMIT)
    await all((each) => each.charge(names('new'), 1))
    await pass(9 * STEP_MS)
    expect(await tune('status')).toContain('state         ended: kept')
    expect((await settings().read('api')).limits).toEqual({ api: { limit: LIMIT } })
  })
}
