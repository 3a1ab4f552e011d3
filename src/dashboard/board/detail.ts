import { distinctIn } from '../../util/distinct-sample.js'
import type { DeniedRow, LimiterReport } from '../figures/report.js'
import type { LimiterDetail, ShownClient } from '../figures/shown.js'

/** Returns the details of a limiter. `labelOf` returns what the application calls a client. */
export function detailOf(
  { name, limits, denied, denials, near }: LimiterReport,
  labelOf: (client: DeniedRow) => string | undefined,
): LimiterDetail {
  return {
    name,
    limits,
    denied: denied.map((client) => shownClient(client, labelOf(client))),
    deniedClients: Math.max(denied.length, distinctIn(denials.clients)),
    near,
  }
}

export function shownClient(client: DeniedRow, label?: string): ShownClient {
  return {
    limitName: client.limitName,
    identity: client.identity,
    ...(label !== undefined && { label }),
    denied: client.denied,
    deniedPerSecond: client.perSecond,
    firstDeniedMs: client.firstMs,
    lastDeniedMs: client.lastMs,
    routes: client.routes.map(([route, denied]) => ({ route, denied })),
    addresses: distinctIn(client.addresses),
    networks: client.networks.map(([network, denied]) => ({ network, denied })),
  }
}
