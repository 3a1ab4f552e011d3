import { drawPriority, retryAtOnce, retryWithBackoff } from '../simulate/overload/clients.js'
import type { Random } from '../simulate/random.js'
import {
  GUARDS,
  type LiveScenario,
  OURS,
  REFERENCE,
  reportOr,
  type Sender,
  WORKERS,
  type Work,
} from './scenario.js'

/** A server behind a proxy: see `connectionsTo`. */
const load = (work: Work, times: number, changes: Partial<LiveScenario> = {}): LiveScenario => ({
  name: `${work}, ${times} times`,
  ...{ work, maxTimes: times, isProxied: true },
  ...changes,
})

/**
 * Each client has its connections, and those that give up open new ones. Node.js accepts one connection in each
 * turn of its event loop, so they wait outside of the process, where no guard sees them.
 */
const withoutProxy = (work: Work): LiveScenario =>
  load(work, 2, { name: `${work}, 2 times, without a proxy`, isProxied: false })

function classes(_share: number, random: Random): Partial<Sender> {
  const priority = drawPriority(random)
  return { priority, group: priority }
}

/** Longer than others, since a p99 leaves a hundredth of the requests out: that is the first moment alone. */
const CLASSES: Partial<LiveScenario> = { senderAt: classes, hasCritical: true, length: 3 }

const TENANTS = 100
/** A guard knows tenants after 5 s, and some need longer to send enough. */
const CALM = { times: 0.7, seconds: 10 }
/** No other guard can tell tenants apart. */
const TENANT_GUARDS = [REFERENCE, OURS]

const known = (count: number, random: Random): Partial<Sender> => ({
  ...{ tenant: `tenant ${Math.floor(random() * count)}`, group: 'others' },
})

/** One tenant of a hundred sends as much as all others. */
function unequalTenants(share: number, random: Random): Partial<Sender> {
  if (share >= 0 && random() < 0.5) return { tenant: 'heavy', group: 'heavy' }
  return known(TENANTS - 1, random)
}

/** Half of the requests invent a tenant. */
function inventedTenants(share: number, random: Random): Partial<Sender> {
  if (share >= 0 && random() < 0.5) {
    return { tenant: `invented ${Math.floor(random() * 10_000)}`, group: 'invented' }
  }
  return known(TENANTS, random)
}

/** Half of the capacity, then silence, a burst, and half of the capacity again. */
function herd(share: number): number {
  if (share >= 0.2 && share < 0.4) return 0
  return share >= 0.4 && share < 0.45 ? 10 : 0.5
}

const halfBetween = (from: number, to: number) => (share: number) =>
  share >= from && share < to ? WORKERS / 2 : WORKERS

export const SCENARIOS: readonly LiveScenario[] = [
  ...[0.7, 1.2].map((times) => load('backend', times)),
  load('backend', 2, { guards: GUARDS }),
  withoutProxy('backend'),
  load('backend', 5),
  load('small', 10),
  load('backend', 3, { name: 'backend, 0.5 to 3 times', timesAt: (share) => 0.5 + 2.5 * share }),
  load('backend', 1.2, {
    ...{ name: 'backend, half of it is gone for a while', length: 2.5, calmFrom: 0.5 },
    workersAt: halfBetween(0.2, 0.5),
  }),
  load('quick', 2),
  load('mixed', 2, { senderAt: (_share, random) => ({ path: reportOr(random) }) }),
  load('small', 10, { name: 'small, a herd after a pause', length: 2.5, timesAt: herd, calmFrom: 0.45 }),
  load('small', 1.5, {
    name: 'small, clients that retry at once',
    retryAfterMs: retryAtOnce,
  }),
  load('small', 1.5, {
    name: 'small, clients that retry with backoff',
    retryAfterMs: retryWithBackoff,
  }),
  load('backend', 0.7, {
    ...{ name: 'backend, garbage collection and a report', stopMs: 50, length: 2.5, calmFrom: 0.5 },
    workersAt: halfBetween(0.25, 0.5),
  }),
  load('backend', 5, { name: 'backend, classes at 5 times', ...CLASSES }),
  load('backend', 1.4, {
    ...{ name: 'backend, a heavy tenant', guards: TENANT_GUARDS, warmUp: CALM, length: 1.75 },
    senderAt: unequalTenants,
  }),
  load('backend', 1.4, {
    ...{ name: 'backend, 10,000 invented tenants', guards: TENANT_GUARDS, warmUp: CALM, length: 1.75 },
    senderAt: inventedTenants,
  }),
  load('cpu', 0.7),
  ...[2, 5].map((times) => load('cpu', times, { guards: GUARDS })),
  load('cpu', 5, { name: 'cpu, classes at 5 times', ...CLASSES }),
  load('sync', 0.7),
  ...[2, 5].map((times) => load('sync', times, { guards: GUARDS })),
  withoutProxy('sync'),
]

/** Finds a scenario by its name, in the processes that are told one. */
export function scenarioNamed(name: string): LiveScenario {
  const found = SCENARIOS.find((each) => each.name === name)
  if (found === undefined) throw new Error(`There is no scenario ${name}.`)
  return found
}
