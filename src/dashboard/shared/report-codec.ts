import { mergeSamples, sampleAsJson, sampleInJson } from '../../util/distinct-sample.js'
import { fieldsOf } from '../../util/values.js'
import { LISTED_NETWORKS, NETWORK_ADDRESSES } from '../figures/denials.js'
import { CLIENT_ADDRESSES } from '../figures/denied-clients.js'
import { BUCKETS } from '../figures/latency.js'
import type { DeniedRow, LimiterReport, NetworkFigures } from '../figures/report.js'
import { CHART_SLOTS } from '../figures/traffic.js'
import { countsIn, countText } from './count-text.js'
import { isReport } from './report-check.js'

/** The most distinct names in a sample of a document. */
const MAX_SAMPLE = 1000
/** How many of the clients of a limiter have all their addresses in a document, and how many others have. */
const EXACT_CLIENTS = 10
const FEW_ADDRESSES = 32
/** How many networks and limits of a limiter there are at least. */
const MIN_NETWORKS = 4
const MIN_LIMITS = 8
/** Below this share, candidates are left out, whose lists are long. */
const MIN_CANDIDATE_SHARE = 0.05

/** Returns a report as documents keep it. `share` is the share of the longest lists that it has, from 0 to 1. */
export function reportAsJson(report: LimiterReport, share: number): object {
  const { traffic, denials, denied, store, limits, candidate, candidateClients, ...figures } = report
  const sampled = (sample: DeniedRow['addresses'], most: number) =>
    sampleAsJson(mergeSamples([sample], Math.max(1, Math.round(most * share))))
  return {
    ...figures,
    traffic: {
      ...traffic,
      allowed: countText(traffic.allowed),
      denied: countText(traffic.denied),
    },
    denials: {
      ...denials,
      clients: sampled(denials.clients, MAX_SAMPLE),
      addresses: sampled(denials.addresses, MAX_SAMPLE),
      networks: denials.networks.slice(0, Math.max(MIN_NETWORKS, LISTED_NETWORKS * share)).map((network) => ({
        ...network,
        addresses: sampled(network.addresses, NETWORK_ADDRESSES),
      })),
    },
    denied: denied.map((client, i) => ({
      ...client,
      perSecond: Math.round(1000 * client.perSecond) / 1000,
      addresses: sampled(client.addresses, i < EXACT_CLIENTS ? CLIENT_ADDRESSES : FEW_ADDRESSES),
    })),
    limits: limits.slice(0, Math.max(MIN_LIMITS, Math.round(limits.length * share))),
    store: { ...store, latency: countText(store.latency) },
    ...(share > MIN_CANDIDATE_SHARE && candidate && candidateClients && { candidate, candidateClients }),
  }
}

/** Returns the report in a value of a document; `undefined` for any other value. */
export function reportInJson(value: unknown): LimiterReport | undefined {
  try {
    const decoded = decode(value)
    return isReport(decoded) ? decoded : undefined
  } catch {
    return undefined
  }
}

/** Throws for a value that is not at all like a report. */
function decode(value: unknown): unknown {
  const { traffic, denials, denied, store, ...figures } = fieldsOf(value)
  const { allowed, denied: deniedSlots, ...rates } = fieldsOf(traffic)
  const { clients, addresses, networks, ...sums } = fieldsOf(denials)
  return {
    ...figures,
    traffic: {
      ...rates,
      allowed: countsIn(allowed, CHART_SLOTS),
      denied: countsIn(deniedSlots, CHART_SLOTS),
    },
    denials: {
      ...sums,
      clients: sampleInJson(clients, MAX_SAMPLE),
      addresses: sampleInJson(addresses, MAX_SAMPLE),
      networks: withAddresses<NetworkFigures>(networks),
    },
    denied: withAddresses<DeniedRow>(denied),
    store: { ...fieldsOf(store), latency: countsIn(fieldsOf(store).latency, BUCKETS) },
  }
}

/** Decodes the addresses of clients or networks. Throws if there is no list. */
function withAddresses<Row>(rows: unknown): readonly Row[] {
  if (!Array.isArray(rows)) throw new TypeError('must be a list')
  return rows.map((row) => ({ ...row, addresses: sampleInJson(row.addresses, MAX_SAMPLE) }))
}
