import type { LiveContender } from '../contenders/live-apps.js'
import type { LiveLoginName } from '../contenders/live-logins.js'
import { onRedis } from '../harness/bench-servers.js'
import { median } from '../harness/rounds.js'
import { limiterSetups, loginSetups } from '../live.js'
import { type Served, type ServedOn, serveInRounds, serveOn } from '../live-server.js'
import { isShort } from '../workloads.js'
import type { Gate, Goal, Sample, Samples } from './gate.js'

const PROCESSES = isShort ? 3 : 15
const REQUESTS = isShort ? 10_000 : 20_000

/** Five limiters in a row: what they cost grows, and the noise of a process does not. */
function inARow(what: string, names: readonly LiveContender[], goals: readonly Goal<LiveContender>[]): Gate {
  return {
    title: `Live, five in a row: ${what}`,
    goals,
    async measure() {
      const setups = limiterSetups('five limiters', ['nothing', ...names])
      return samplesOf(await serveInRounds(setups, PROCESSES, REQUESTS), 'nothing', () => ({}))
    },
  }
}

/** Attempts at a login form whose guard is on Redis. */
function loginOnRedis(outcome: 'success' | 'failure'): Gate {
  const names: readonly LiveLoginName[] = ['no guard', 'headgate', 'rate-limiter-flexible, two counters']
  return {
    title: `Live, login on Redis: ${outcome}`,
    goals: [],
    async measure() {
      const served = await onRedis((redis) =>
        serveOn(redis, loginSetups(outcome, names, redis.url), PROCESSES, REQUESTS),
      )
      return samplesOf(served, 'no guard', ({ serverCpuNs, latenciesMs, wallNs }) => ({
        'Redis µs': serverCpuNs / REQUESTS / 1000,
        'median ms': median(Array.from(latenciesMs)),
        'logins/s': (REQUESTS / wallNs) * 1e9,
      }))
    },
  }
}

function samplesOf<Took extends Served | ServedOn>(
  served: ReadonlyMap<string, readonly Took[]>,
  bare: string,
  more: (took: Took) => Sample,
): Samples {
  const us = ({ userCpuNs }: Served) => userCpuNs / REQUESTS / 1000
  const bareUs = served.get(bare)?.map(us) ?? []
  const all = Array.from(served, ([name, each]): [string, Sample[]] => [
    name,
    // By round: what the machine does meets the servers of one round.
    each.map((took, round) => ({
      'user CPU µs': us(took),
      above: us(took) - (bareUs[round] as number),
      ...more(took),
    })),
  ])
  return Object.fromEntries(all)
}

/** Goals for what limiters add to a server with none. */
const above = (of: LiveContender, express: LiveContender, byHand: LiveContender): Goal<LiveContender>[] => [
  { of, peers: [express], figure: 'above', atMost: 0.4 },
  { of, peers: [byHand], figure: 'above', atMost: 1.15 },
]

const ONE = ['headgate, legacy', 'express-rate-limit, legacy', 'a Map by hand, legacy'] as const
const TWO = ['headgate, two limits', 'express-rate-limit, twice', 'a Map by hand, twice'] as const

/** The gates in live servers, by name. */
export const LIVE_GATES = {
  'gate-live-one': inARow('one limit', ONE, above(...ONE)),
  'gate-live-two': inARow('two limits', TWO, above(...TWO)),
  'gate-login-success': loginOnRedis('success'),
  'gate-login-failure': loginOnRedis('failure'),
} as const
