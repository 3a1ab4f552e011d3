import { type Store, sharedSettings } from 'headgate'
import { redisStore } from 'headgate/redis'
import type { Documents } from 'headgate/store'
import type { Redis } from 'ioredis'
import { type Advanced, sharedTrials } from '../../../src/tuning/trial/shared-trials.js'
import type { TrialEvent, TrialPhase } from '../../../src/tuning/trial/trial.js'
import { type FaultyProxy, startProxy } from '../../support/proxy.js'
import { ada, demandSince, HOUR_MS, PLAN, START_MS } from '../../unit/tuning/trial/trial-processes.js'
import { connect } from './connect.js'
import { useRedis } from './use-redis.js'

const PROCESSES = 4
const MAX_ROUNDS = 200

let proxy: FaultyProxy
const clients: Redis[] = []
let nowMs: number

const redis = useRedis({
  async start({ host, port }) {
    proxy = await startProxy({ host, port })
    const url = `redis://${proxy.url}`
    const options = { retryStrategy: () => 5, disconnectTimeout: 50 }
    for (let i = 0; i < PROCESSES; i++) clients.push(await connect(url, options))
  },
  async stop() {
    await Promise.all(clients.map((client) => client.quit()))
    await proxy?.stop()
  },
})

beforeEach(async () => {
  await redis.client.flushdb()
  nowMs = START_MS
})

/** A process with its own client of Redis. */
function processOn(client: Redis) {
  const store = redisStore(client) as Store & { readonly documents: Documents }
  const settings = sharedSettings(store)
  return { settings, trials: sharedTrials(store, settings, { now: () => nowMs }) }
}

type Process = ReturnType<typeof processOn>

test('processes whose connections are reset take each step once, and change the settings once', async () => {
  const processes = clients.map(processOn)
  const events: TrialEvent[] = []
  let requests = 0
  let resets = 0
  proxy.behave({
    onRequest(bytes) {
      if (!bytes.includes('hg:') || ++requests % 5 !== 0) return 'pass' // a connection is made undisturbed
      resets++
      return 'reset'
    },
  })

  /** Lets all processes act at once, again and again, until the trial is in a phase. */
  async function until(phase: TrialPhase, act: (process: Process) => Promise<Advanced>): Promise<void> {
    const advance = ({ trials }: Process) => trials.advance('api')
    for (let round = 0; round < MAX_ROUNDS; round++) {
      await Promise.all(clients.map((client) => client.ping())) // all are connected again
      const results = await Promise.allSettled(processes.map(round % 2 === 0 ? act : advance))
      const advanced = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
      events.push(...advanced.flatMap((each) => each.events))
      if (advanced.some(({ trial }) => trial?.phase === phase)) return
    }
    throw new Error(`The trial did not become ${phase} in ${MAX_ROUNDS} rounds.`)
  }

  await until('watching', ({ trials }) => trials.start(PLAN, ada))
  nowMs += 24 * HOUR_MS
  const watched = demandSince(START_MS, nowMs)
  await until('ready', ({ trials }) => trials.advance('api', watched))
  await until('guarding', ({ trials }) => trials.approve('api', ada))
  const guarded = demandSince(nowMs, nowMs + HOUR_MS, { denied: 100 })
  nowMs += HOUR_MS
  await until('ended', ({ trials }) => trials.advance('api', guarded))

  proxy.behave({})
  const { trials, settings } = processOn(redis.client)
  const trial = await trials.read('api')
  const phases = ['starting', 'watching', 'ready', 'promoting', 'guarding', 'reverting', 'ended']
  expect(trial?.events.map(({ details }) => details.phase)).toEqual(phases)
  const ids = events.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  const changes = await settings.changes('api')
  expect(changes.map(({ by, reason }) => [by, reason.replace(/(,| \().*/, '')])).toEqual([
    ['tune', 'tune: 60 for api is reverted'],
    [changes[1]?.by, 'tune: 60 for api is promoted'],
    [changes[2]?.by, 'tune: 60 for api runs as a candidate'],
  ])
  expect(changes.slice(1).map(({ by }) => by)).not.toContain('tune')
  expect(await settings.read('api')).toEqual({ limits: {}, overrides: [] })
  expect(resets).toBeGreaterThan(0)
})
