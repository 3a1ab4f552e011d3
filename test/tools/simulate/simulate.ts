import type { Policy } from 'headgate'
import type { State } from 'headgate/store'
import { type WaitSummary, waits } from '../faults/waits.js'
import { COSTS, type Costs } from './costs.js'
import { simulatedNode } from './node.js'
import { latencyFrom, randomFrom } from './random.js'
import { boundOf, policyOf, type Scenario } from './scenario.js'
import { type Servers, simulatedStore } from './store.js'
import { limiterFor, sendTraffic } from './traffic.js'
import { type VirtualTime, withVirtualTime } from './virtual-time.js'

/** What one node was sent. */
export interface NodeOutcome {
  /** The share of time for which it is busy. Above 1, it is sent more than it can serve. */
  readonly load: number
  readonly requests: number
  readonly calls: number
}

/**
 * What came of a scenario. Loads and waits are those of its second half, when queues and leases are steady.
 */
export interface Outcome {
  readonly decisions: number
  readonly admitted: number
  /** What one limiter would have admitted that sees every request at once. */
  readonly ideal: number
  /** Of that, what was denied, summed over the keys. */
  readonly unused: number
  /** Admitted beyond the policy's bound, summed over the keys. */
  readonly over: number
  /** Decisions by their source. */
  readonly bySource: Readonly<Record<string, number>>
  /** Requests to all nodes. */
  readonly roundTrips: number
  readonly nodes: readonly NodeOutcome[]
  readonly waits: WaitSummary
}

/** After the last request, pending ones are waited for: longer than any time-out. */
const DRAIN_MS = 500

/** Runs a scenario in virtual time. The same scenario always has the same outcome. */
export function simulate(scenario: Scenario, costs: Costs = COSTS[scenario.store]): Promise<Outcome> {
  const random = randomFrom(scenario.seed)
  return withVirtualTime(random, async (time) => {
    const servers = serversOf(scenario, costs, time)
    const tally = tallyOf(scenario, time)
    for (let process = 0; process < scenario.processes; process++) {
      const skewMs = scenario.skew * (2 * random() - 1)
      const limiter = limiterFor(scenario, simulatedStore(servers, skewMs))
      sendTraffic({ scenario, process, limiter, ...tally.listeners })
    }
    const halfMs = scenario.seconds * 500
    await time.runUntil(halfMs)
    tally.waited.clear()
    const before = servers.nodes.map(({ served }) => served.busyMs)
    await time.runUntil(2 * halfMs)
    const nodes = servers.nodes.map(({ served: { busyMs, ...sent } }, i) => {
      return { load: (busyMs - (before[i] as number)) / halfMs, ...sent }
    })
    await time.runUntil(2 * halfMs + DRAIN_MS)
    return { ...tally.figures(), nodes, roundTrips: nodes.reduce((sum, { requests }) => sum + requests, 0) }
  })
}

function serversOf(scenario: Scenario, costs: Costs, time: VirtualTime): Servers {
  const { store, nodes, latency, p99, slow, lost, seconds, seed } = scenario
  const third = (seconds * 1000) / 3
  const faults = { slowness: slow, ...(lost ? { lostFromMs: third, lostUntilMs: 2 * third } : {}) }
  return {
    kind: store,
    nodes: Array.from({ length: nodes }, (_, i) => simulatedNode(costs, i === 0 ? faults : {})),
    states: new Map(),
    latency: latencyFrom(randomFrom(seed + 1), latency, p99),
    time,
  }
}

/** Creates the counts of a run, and beside them the limiter that sees every request at once. */
function tallyOf(scenario: Scenario, time: VirtualTime) {
  const policy: Policy = policyOf(scenario)
  const states: (State | undefined)[] = []
  const ideal = new Float64Array(scenario.keys)
  const admitted = new Float64Array(scenario.keys)
  const bySource: Record<string, number> = {}
  const waited = waits()
  let lastMs = 0
  const sum = (figureOf: (key: number) => number) => ideal.reduce((total, _, key) => total + figureOf(key), 0)
  const at = (counts: Float64Array, key: number) => counts[key] as number

  return {
    waited,
    listeners: {
      onArrival(key: number) {
        const step = policy.take(states[key], time.now(), 1)
        states[key] = step.next ?? states[key]
        if (step.allowed) ideal[key] = at(ideal, key) + 1
      },
      onDecision(key: number, decision: { allowed: boolean; source: string }, waitedMs: number) {
        if (decision.allowed) admitted[key] = at(admitted, key) + 1
        bySource[decision.source] = (bySource[decision.source] ?? 0) + 1
        waited.add(waitedMs)
        lastMs = time.now()
      },
    },
    figures() {
      const bound = boundOf(scenario, lastMs)
      return {
        decisions: Object.values(bySource).reduce((a, b) => a + b, 0),
        admitted: sum((key) => at(admitted, key)),
        ideal: sum((key) => at(ideal, key)),
        unused: sum((key) => Math.max(0, at(ideal, key) - at(admitted, key))),
        over: sum((key) => Math.max(0, at(admitted, key) - bound)),
        bySource,
        waits: waited.summary(),
      }
    },
  }
}
