import type { Random } from '../simulate/random.js'
import { type LiveScenario, type Sender, WORKERS, type Work } from './scenario.js'

/**
 * Servers that burn CPU are behind a proxy. Node.js accepts one connection in each turn of its event loop, so
 * there new connections would wait outside of the process, where no guard sees them.
 */
const load = (work: Work, times: number): LiveScenario => ({
  name: `${work}, ${times} times`,
  ...{ work, maxTimes: times, isProxied: work !== 'backend' },
})

/** A twentieth of the requests is critical, and a third is bulk. */
function classes(_share: number, random: Random): Partial<Sender> {
  const at = random()
  const priority = at < 0.05 ? 'critical' : at < 0.38 ? 'bulk' : 'default'
  return { priority, group: priority }
}

const TENANTS = 100

/** One tenant of a hundred sends as much as all others, after a calm third. */
function unequalTenants(share: number, random: Random): Partial<Sender> {
  if (share > 1 / 3 && random() < 0.5) return { tenant: 'heavy', group: 'heavy' }
  return { tenant: `tenant ${Math.floor(random() * (TENANTS - 1))}`, group: 'others' }
}

/** Half of the capacity, then silence, a burst, and half of the capacity again. */
function herd(share: number): number {
  if (share >= 0.3 && share < 0.5) return 0
  return share >= 0.5 && share < 0.55 ? 10 : 0.5
}

/** For the compiler, before each scenario. Nothing of it is counted. */
export const warmUp = (work: Work): LiveScenario => ({ ...load(work, 0.5), name: `${work}, warm-up` })

export const SCENARIOS: readonly LiveScenario[] = [
  ...[0.1, 0.7, 2, 5].map((times) => load('backend', times)),
  {
    ...{ name: 'backend, half of it is gone for a while', work: 'backend', maxTimes: 1.2 },
    workersAt: (share) => (share >= 0.3 && share < 0.6 ? WORKERS / 2 : WORKERS),
    calmFrom: 0.6,
  },
  {
    ...{ name: 'backend, a herd after a pause', work: 'backend', maxTimes: 10 },
    timesAt: herd,
    calmFrom: 0.55,
  },
  { name: 'backend, classes at 5 times', work: 'backend', maxTimes: 5, senderAt: classes },
  {
    ...{ name: 'backend, a heavy tenant', work: 'backend', maxTimes: 1.4 },
    timesAt: (share) => (share > 1 / 3 ? 1.4 : 0.7),
    senderAt: unequalTenants,
  },
  ...[0.7, 2, 5].map((times) => load('cpu', times)),
  { ...load('cpu', 5), name: 'cpu, classes at 5 times', senderAt: classes },
  ...[0.7, 2, 5].map((times) => load('sync', times)),
  { ...load('sync', 2), name: 'sync, 2 times, without a proxy', isProxied: false },
]

/** Finds a scenario by its name, in the processes that are told one. */
export function scenarioNamed(name: string): LiveScenario {
  const warmUps = (['backend', 'cpu', 'sync'] as const).map(warmUp)
  const found = [...SCENARIOS, ...warmUps].find((each) => each.name === name)
  if (found === undefined) throw new Error(`There is no scenario ${name}.`)
  return found
}
