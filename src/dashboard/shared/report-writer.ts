import { type DistinctSample, mergeSamples } from '../../util/distinct-sample.js'
import { weakMemo } from '../../util/memo.js'
import { LISTED_NETWORKS, NETWORK_ADDRESSES } from '../figures/denials.js'
import { CLIENT_ADDRESSES } from '../figures/denied-client.js'
import type { DenialFigures, DeniedRow, LimiterFigures, LimiterReport, PastSlots } from '../figures/report.js'
import { countText } from './count-text.js'
import { LINES } from './report-lines.js'
import { sampleText } from './sample-text.js'

/** The most distinct names in a sample of a document. */
const MAX_SAMPLE = 1000
/** How many of the clients of a limiter have all their addresses in a document, and how many others have. */
const EXACT_CLIENTS = 10
const FEW_ADDRESSES = 32
/** How many networks have all their addresses: as many as a finding names. */
const EXACT_NETWORKS = 3
/** How many networks and limits of a limiter there are at least. */
const MIN_NETWORKS = 4
const MIN_LIMITS = 8
/** Below this share, candidates are left out, whose lists are long. */
const MIN_CANDIDATE_SHARE = 0.05

/** A text, and the share of the longest lists that it has. */
interface Written {
  readonly share: number
  readonly text: string
}

/** Writes reports as lines. What stays the same from one report to the next is encoded once. */
export class ReportWriter {
  readonly #denials = new WeakMap<DenialFigures, Written>()
  readonly #clients = new WeakMap<DeniedRow, Written>()
  /** Slots that are over no longer change. */
  readonly #pastLine = weakMemo(({ allowed, denied }: PastSlots) => {
    return LINES.past + JSON.stringify([countText(allowed), countText(denied)])
  })

  /** Returns the lines of a limiter without its clients. `share` is the share of the longest lists that they have. */
  figureLines(report: LimiterReport, share: number): string {
    return `${nowLine(report, share)}\n${this.#pastLine(report.traffic.past)}`
  }

  /** Returns the lines of the clients of a limiter; `undefined` if it has none. */
  clientLines(report: LimiterReport, share: number): string | undefined {
    const { name, denied, near, denials, candidate, candidateClients } = report
    const lines: string[] = []
    if (near.length > 0) lines.push(LINES.near + JSON.stringify(near))
    if (denials.denied > 0) lines.push(this.#denialLines(denials, share))
    denied.forEach((client, i) => void lines.push(this.#clientLine(client, share, i)))
    if (share > MIN_CANDIDATE_SHARE && candidate && candidateClients)
      lines.push(LINES.candidate + JSON.stringify({ candidate, candidateClients }))
    return lines.length === 0 ? undefined : [LINES.name + JSON.stringify(name), ...lines].join('\n')
  }

  #denialLines(denials: DenialFigures, share: number): string {
    const known = this.#denials.get(denials)
    if (known?.share === share) return known.text
    const listed = denials.networks.slice(0, Math.max(MIN_NETWORKS, LISTED_NETWORKS * share))
    const counts = {
      denied: denials.denied,
      routes: denials.routes,
      networks: listed.map(({ network, denied }) => [network, denied]),
    }
    const samples = [
      sampled(denials.clients, MAX_SAMPLE * share),
      sampled(denials.addresses, MAX_SAMPLE * share),
      sampled(denials.networkNames, MAX_SAMPLE * share),
      ...listed.map(({ addresses }, i) =>
        sampled(addresses, share * (i < EXACT_NETWORKS ? NETWORK_ADDRESSES : FEW_ADDRESSES)),
      ),
    ]
    const text = `${LINES.denials}${JSON.stringify(counts)}\n${LINES.samples}${JSON.stringify(samples)}`
    this.#denials.set(denials, { share, text })
    return text
  }

  #clientLine(client: DeniedRow, share: number, index: number): string {
    const most = share * (index < EXACT_CLIENTS ? CLIENT_ADDRESSES : FEW_ADDRESSES)
    const known = this.#clients.get(client)
    if (known?.share === most) return known.text
    const perSecond = rounded(client.perSecond)
    const text =
      LINES.client + JSON.stringify({ ...client, perSecond, addresses: sampled(client.addresses, most) })
    this.#clients.set(client, { share: most, text })
    return text
  }
}

/** What changes all the time. */
function nowLine(
  { name, mode, sinceMs, traffic, limits, run, blocked, store }: LimiterFigures,
  share: number,
) {
  const { past, perSecond, ...current } = traffic
  const rates = { allowed: rounded(perSecond.allowed), denied: rounded(perSecond.denied) }
  const { latency, ...calls } = store
  const now = {
    ...{ name, mode, sinceMs, traffic: { ...current, perSecond: rates }, run, blocked },
    limits: limits.slice(0, Math.max(MIN_LIMITS, Math.round(limits.length * share))),
    store: { ...calls, latency: countText(latency) },
  }
  return LINES.now + JSON.stringify(now)
}

/** Rates need no more digits, which take long to write and to read. */
function rounded(perSecond: number): number {
  return Math.round(1000 * perSecond) / 1000
}

function sampled(sample: DistinctSample, most: number): string {
  return sampleText(mergeSamples([sample], Math.max(1, Math.round(most))))
}
