import { distinctIn } from '../../util/distinct-sample.js'
import { weakMemo } from '../../util/memo.js'
import { quantileMs } from '../figures/latency.js'
import type { DeniedRow, LimiterReport, StoreReport } from '../figures/report.js'
import type { LimiterDetail, ShownCalls, ShownClient } from '../figures/shown.js'

/** Returns the details of a limiter. `labelOf` returns what the application calls a client. */
export function detailOf(
  { name, limits, denied, denials, near, store, candidate }: LimiterReport,
  labelOf: (client: DeniedRow) => string | undefined,
): LimiterDetail {
  return {
    name,
    limits,
    denied: denied.map((client) => shownClient(client, labelOf(client))),
    deniedClients: Math.max(denied.length, distinctIn(denials.clients)),
    near,
    store: shownCalls(store),
    ...(candidate && { candidate }),
  }
}

function shownCalls({ calls, failures, latency, keys }: StoreReport): ShownCalls {
  const medianMs = quantileMs(latency, 0.5)
  const p99Ms = quantileMs(latency, 0.99)
  return {
    calls,
    failures,
    ...(medianMs !== undefined && { medianMs }),
    ...(p99Ms !== undefined && { p99Ms }),
    ...(keys !== undefined && { keys }),
  }
}

export function shownClient(client: DeniedRow, label?: string): ShownClient {
  return label === undefined ? withoutLabel(client) : { ...withoutLabel(client), label }
}

/** Of most clients, nothing changes from one second to the next. */
const withoutLabel = weakMemo((client: DeniedRow): ShownClient => {
  return {
    limitName: client.limitName,
    identity: client.identity,
    denied: client.denied,
    deniedPerSecond: client.perSecond,
    firstDeniedMs: client.firstMs,
    lastDeniedMs: client.lastMs,
    routes: client.routes.map(([route, denied]) => ({ route, denied })),
    addresses: distinctIn(client.addresses),
    networks: client.networks.map(([network, denied]) => ({ network, denied })),
  }
})
