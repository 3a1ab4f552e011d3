import type { FindingFigures } from '../../../../src/dashboard/figures/finding-figures.js'
import type { LimitRow } from '../../../../src/dashboard/figures/report.js'
import type { ShownClient } from '../../../../src/dashboard/figures/shown.js'

export const NOW_MS = Date.UTC(2026, 10, 28, 12, 22)
export const SINCE_MS = Date.UTC(2026, 10, 28, 12, 19)
export const SINCE = `{${SINCE_MS}}`

/** Returns a denied client. */
export function client(identity: string, own: Partial<ShownClient> = {}): ShownClient {
  const denied = own.denied ?? 100
  return {
    limitName: 'api',
    identity,
    denied,
    deniedPerSecond: denied / 180,
    firstDeniedMs: SINCE_MS,
    lastDeniedMs: NOW_MS,
    routes: [{ route: 'GET /', denied }],
    addresses: 1,
    networks: [{ network: '198.51.100.0/24', denied }],
    ...own,
  }
}

/** Returns a limit that denied some requests. */
export function limit(own: Partial<LimitRow> = {}): LimitRow {
  const numbers = { limit: 100, windowMs: 60_000, allowed: 900, denied: 600, peak: 1 }
  return { name: 'api', kind: 'token-bucket', isLocal: false, ...numbers, ...own }
}

/** Returns figures of denials for three minutes, by some clients from as many addresses. */
export function figures(clients: readonly ShownClient[], own: Partial<FindingFigures> = {}): FindingFigures {
  const denied = clients.reduce((sum, each) => sum + each.denied, 0)
  return {
    nowMs: NOW_MS,
    name: 'api',
    mode: 'enforce',
    allowedPerSecond: 10,
    deniedPerSecond: denied / 180,
    blockedPerSecond: 0,
    ...(denied > 0 && { deniedSinceMs: SINCE_MS, runSinceMs: SINCE_MS }),
    deniedClients: clients.length,
    denied,
    addresses: clients.reduce((sum, { addresses }) => sum + addresses, 0),
    networkCount: clients.length,
    clients,
    networks: clients.map(({ identity, denied: count }) => ({
      network: `net of ${identity}`,
      denied: count,
      addresses: 1,
    })),
    routes: denied > 0 ? [{ route: 'GET /', denied }] : [],
    limits: [limit()],
    ...own,
  }
}
