import { DistinctCounter, type DistinctSample, mergeSamples } from '../../util/distinct-sample.js'
import { FrequentNames } from '../../util/frequent.js'
import { largest } from '../../util/largest.js'
import { listMemo } from '../../util/memo.js'
import { Spans } from '../../util/spans.js'
import { sumCounts } from './counts.js'
import type { Origin } from './origin.js'
import type { DenialFigures, DenialRun, NetworkFigures } from './report.js'
import { Run } from './run.js'

/** Three spans of five minutes. */
const SPAN_MS = 300_000
const SPANS = 3
const MAX_CLIENTS = 1000
const MAX_ADDRESSES = 1000
/** Up to how many networks are counted exactly. */
const MAX_NETWORK_NAMES = 256
const MAX_ROUTES = 64
/** Of how many networks denials are counted, and how many of them are reported. */
const MAX_NETWORKS = 64
export const LISTED_NETWORKS = 16
const LISTED_ROUTES = 10
/** As many as a /24 network has. */
export const NETWORK_ADDRESSES = 256

interface Network {
  denied: number
  readonly addresses: DistinctCounter
}

function emptySpan() {
  return {
    denied: 0,
    clients: new DistinctCounter(MAX_CLIENTS),
    addresses: new DistinctCounter(MAX_ADDRESSES),
    networkNames: new DistinctCounter(MAX_NETWORK_NAMES),
    routes: new FrequentNames(MAX_ROUTES),
    networks: new Map<string, Network>(),
  }
}

type Span = ReturnType<typeof emptySpan>

/** What the denials of a limiter have in common, over at most 15 minutes, since when they have not paused. */
export class Denials {
  readonly #spans = new Spans(SPAN_MS, SPANS, emptySpan)
  readonly #run = new Run()
  /** The figures as they were read last, and of which spans, unless something was denied since. */
  #latest: { readonly spans: readonly Span[]; readonly figures: DenialFigures } | undefined

  /** Counts a denied decision, which denied these clients. */
  count(nowMs: number, clients: readonly string[], { route, addressHash, network }: Origin): void {
    if (this.#run.count(nowMs)) this.#spans.clear()
    this.#latest = undefined
    const span = this.#spans.current(nowMs)
    span.denied++
    for (const client of clients) span.clients.add(client)
    if (route !== undefined) span.routes.count(route)
    if (addressHash === undefined || network === undefined) return
    span.addresses.addHash(addressHash)
    if (countNetwork(span.networks, network, addressHash)) span.networkNames.add(network)
  }

  /** Returns the last run; `undefined` if nothing has been denied yet. */
  run(nowMs: number): DenialRun | undefined {
    return this.#run.figures(nowMs)
  }

  figures(nowMs: number): DenialFigures {
    const spans = this.#spans.kept(nowMs)
    if (this.#latest?.spans !== spans) this.#latest = { spans, figures: sumOf(spans.map(figuresOf)) }
    return this.#latest.figures
  }
}

/**
 * Counts a denial of a network. If there are too many, the one that was denied least makes place. Returns whether the
 * network was not there.
 */
function countNetwork(networks: Map<string, Network>, name: string, addressHash: number): boolean {
  const isNew = !networks.has(name)
  let network = networks.get(name)
  if (network === undefined) {
    if (networks.size >= MAX_NETWORKS) networks.delete(leastDenied(networks))
    network = { denied: 0, addresses: new DistinctCounter(NETWORK_ADDRESSES) }
    networks.set(name, network)
  }
  network.denied++
  network.addresses.addHash(addressHash)
  return isNew
}

function leastDenied(networks: ReadonlyMap<string, Network>): string {
  let least = ''
  let fewest = Number.POSITIVE_INFINITY
  for (const [name, { denied }] of networks) {
    if (denied >= fewest) continue
    least = name
    fewest = denied
  }
  return least
}

function figuresOf({ routes, networks, ...counted }: Span): DenialFigures {
  const networkFigures = Array.from(networks, ([network, figures]) => {
    return { network, denied: figures.denied, addresses: figures.addresses }
  })
  return { ...counted, routes: [...routes.entries()], networks: networkFigures }
}

/** Adds up what is counted of networks, at most `most` of them. The one denied most comes first. */
function mergeNetworks(networks: readonly NetworkFigures[], most: number): readonly NetworkFigures[] {
  const sums = new Map<string, { network: string; denied: number; samples: DistinctSample[] }>()
  for (const { network, denied, addresses } of networks) {
    const sum = sums.get(network)
    if (sum === undefined) sums.set(network, { network, denied, samples: [addresses] })
    else {
      sum.denied += denied
      sum.samples.push(addresses)
    }
  }
  return largest(sums, most, ({ denied }) => denied).map(({ network, denied, samples }) => {
    return { network, denied, addresses: mergeSamples(samples, NETWORK_ADDRESSES) }
  })
}

/** Adds up what several processes count of denials. */
export function mergeDenials(all: readonly [DenialFigures, ...DenialFigures[]]): DenialFigures {
  const [first, ...others] = all.filter(({ denied }) => denied > 0)
  if (first === undefined || others.length === 0) return first ?? all[0]
  return sumOfProcesses([first, ...others])
}

/** Of most limiters, nothing changes from one second to the next. */
const sumOfProcesses = listMemo<DenialFigures, DenialFigures>(sumOf)

function sumOf(figures: readonly DenialFigures[]): DenialFigures {
  return {
    denied: figures.reduce((sum, { denied }) => sum + denied, 0),
    clients: mergeSamples(
      figures.map(({ clients }) => clients),
      MAX_CLIENTS,
    ),
    addresses: mergeSamples(
      figures.map(({ addresses }) => addresses),
      MAX_ADDRESSES,
    ),
    networkNames: mergeSamples(
      figures.map(({ networkNames }) => networkNames),
      MAX_NETWORK_NAMES,
    ),
    routes: sumCounts(figures.map(({ routes }) => routes)).slice(0, LISTED_ROUTES),
    networks: mergeNetworks(
      figures.flatMap(({ networks }) => networks),
      LISTED_NETWORKS,
    ),
  }
}
