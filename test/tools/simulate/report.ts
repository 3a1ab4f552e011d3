import { printTable, whole } from '../../bench/harness/table.js'
import type { Costs, StoreKind } from './costs.js'
import type { Outcome } from './simulate.js'

const HEAD = [
  'scenario',
  'decisions',
  'admitted',
  'ideal',
  'over',
  'unused',
  'cached',
  'leased',
  'fallback',
  'trips',
  'p50 ms',
  'p99 ms',
  'load',
  'busiest',
] as const

/** What the columns mean, printed above the first table. */
export const LEGEND = `
  admitted    by all processes together
  ideal       by one limiter that sees every request at once
  over        admitted beyond the policy's bound, summed over the clients
  unused      of the ideal, what was denied
  cached      decisions by the denial cache; leased: from leased units; fallback: without the store
  trips       round trips for each decision
  p50, p99    how long requests wait for their decision
  load        of one core of a node, in the mean; above 100 %, it is sent more than it can serve
  busiest     load of the node that is busiest

  Waits and loads are those of the second half of the time.`

/** Prints what work costs the servers. */
export function printCosts(costs: Readonly<Record<StoreKind, Costs>>): void {
  const rows = Object.entries(costs).map(([kind, { requestUs, callUs, keyUs, chargeUs }]) => {
    return [kind, ...[requestUs, callUs, keyUs, chargeUs].map((us) => us.toFixed(2))]
  })
  printTable('Microseconds of a server, of one core', ['store', 'request', 'call', 'key', 'charge'], rows)
}

/** Prints outcomes by the names of their scenarios. */
export function printOutcomes(title: string, outcomes: ReadonlyMap<string, Outcome>): void {
  printTable(
    title,
    HEAD,
    Array.from(outcomes, ([name, outcome]) => rowOf(name, outcome)),
  )
}

function rowOf(name: string, outcome: Outcome): string[] {
  const { decisions, admitted, ideal, over, unused, bySource, roundTrips, nodes, waits } = outcome
  const { 'deny-cache': cached = 0, lease = 0, local = 0 } = bySource
  const { 'fail-open': open = 0, 'fail-closed': closed = 0 } = bySource
  const share = (part: number, of = decisions) => percent(part / of)
  const loads = nodes.map(({ load }) => load)
  const busiest = Math.max(...loads)
  return [
    name,
    ...[decisions, admitted, ideal, over].map(whole),
    share(unused, ideal),
    ...[cached, lease, local + open + closed].map((part) => share(part)),
    (roundTrips / decisions).toFixed(3),
    ...[waits.p50, waits.p99].map((ms) => ms.toFixed(2)),
    percent(loads.reduce((a, b) => a + b) / loads.length),
    percent(busiest),
  ]
}

export function percent(share: number): string {
  return `${(Math.round(1000 * share) / 10 || 0).toFixed(1)} %` // || 0: no negative zero
}
