import { type DistinctSample, NO_NAMES } from '../../util/distinct-sample.js'
import { fieldsOf } from '../../util/values.js'
import { BUCKETS } from '../figures/latency.js'
import type { DenialFigures, DeniedRow, LimiterReport, NearClient, PastSlots } from '../figures/report.js'
import { CHART_SLOTS } from '../figures/traffic.js'
import { countsIn } from './count-text.js'
import {
  type CandidateLine,
  type DenialLine,
  isCandidate,
  isClient,
  isDenials,
  isNear,
  isNow,
  type NowLine,
} from './report-check.js'
import { LINES } from './report-lines.js'
import { sampleIn } from './sample-text.js'

/** The most distinct names in a sample, and the most clients of a limiter, that are read. */
const MAX_SAMPLE = 1000
const MAX_CLIENTS = 1000

/** What the lines of a report say. */
interface Parts {
  readonly now: NowLine
  past?: PastSlots
  near?: readonly NearClient[]
  denials?: DenialLine
  candidate?: CandidateLine
  samples?: readonly DistinctSample[]
  readonly clients: DeniedRow[]
}

/** How each line is decoded. It throws, or returns `undefined`, for a line that is not valid. */
const DECODERS: Readonly<Record<string, (value: unknown) => unknown>> = {
  [LINES.now](value) {
    const { store, ...figures } = fieldsOf(value)
    const latency = countsIn(fieldsOf(store).latency, BUCKETS)
    return valid(isNow, { ...figures, store: { ...fieldsOf(store), latency } })
  },
  [LINES.past](value) {
    const counts = Array.isArray(value) ? value : []
    const [allowed, denied] = [counts[0], counts[1]].map((text) => countsIn(text, CHART_SLOTS - 1))
    return { allowed, denied }
  },
  [LINES.near]: (value) => valid(isNear, value),
  [LINES.denials]: (value) => valid(isDenials, value),
  [LINES.samples]: samplesIn,
  [LINES.client](value) {
    const fields = fieldsOf(value)
    return valid(isClient, { ...fields, addresses: sampleIn(fields.addresses, MAX_SAMPLE) })
  },
  [LINES.candidate]: (value) => valid(isCandidate, value),
}

/** Reads the reports in the documents of one process. It remembers the lines of the last document. */
export class ReportReader {
  #known: ReadonlyMap<string, unknown> = new Map()
  /** What was made of the lines of denials, which stays the same object while they are the same. */
  readonly #denials = new WeakMap<DenialLine, DenialFigures | undefined>()

  /** Returns the reports in some lines, at most `most`, without those that are not valid. */
  read(lines: readonly string[], most: number): readonly LimiterReport[] {
    const decoded = new Map<string, unknown>()
    const reports: (Parts | undefined)[] = []
    for (const line of lines) {
      const known = this.#known.get(line) ?? decode(line)
      decoded.set(line, known)
      if (!line.startsWith(LINES.now)) add(reports, line[0], known)
      else if (reports.push(known === undefined ? undefined : partsOf(known as NowLine)) > most) break
    }
    this.#known = decoded
    return reports
      .slice(0, most)
      .flatMap((parts) => (parts === undefined ? [] : (this.#reportOf(parts) ?? [])))
  }

  #reportOf({ now, past, near = [], clients, candidate, ...parts }: Parts): LimiterReport | undefined {
    const denials = this.#denialsOf(parts)
    if (past === undefined || denials === undefined) return undefined
    return {
      ...now,
      traffic: { ...now.traffic, past },
      near,
      denials,
      denied: clients,
      ...candidate,
    }
  }

  #denialsOf({ denials, samples = [] }: Pick<Parts, 'denials' | 'samples'>): DenialFigures | undefined {
    if (denials === undefined) return NO_DENIALS
    const known = this.#denials.get(denials)
    if (known?.clients === samples[0] && known?.addresses === samples[1]) return known
    const figures = figuresOf(denials, samples)
    this.#denials.set(denials, figures)
    return figures
  }
}

function decode(line: string): unknown {
  try {
    return DECODERS[line[0] ?? '']?.(JSON.parse(line.slice(1)))
  } catch {
    return undefined
  }
}

function valid<T>(isValid: (value: unknown) => value is T, value: unknown): T | undefined {
  return isValid(value) ? value : undefined
}

function samplesIn(value: unknown): readonly DistinctSample[] | undefined {
  const samples = Array.isArray(value) ? value.map((each) => sampleIn(each, MAX_SAMPLE)) : [undefined]
  return samples.every((sample) => sample !== undefined) ? samples : undefined
}

function partsOf(now: NowLine): Parts {
  return { now, clients: [] }
}

/** Adds what a line says to the last report. A line that is not valid leaves no report. */
function add(reports: (Parts | undefined)[], kind: string | undefined, value: unknown): void {
  const parts = reports.at(-1)
  if (parts === undefined) return
  const isFull = kind === LINES.client && parts.clients.length >= MAX_CLIENTS
  if (value === undefined || isFull) reports[reports.length - 1] = undefined
  else if (kind === LINES.past) parts.past = value as PastSlots
  else if (kind === LINES.near) parts.near = value as readonly NearClient[]
  else if (kind === LINES.denials) parts.denials = value as DenialLine
  else if (kind === LINES.samples) parts.samples = value as readonly DistinctSample[]
  else if (kind === LINES.client) parts.clients.push(value as DeniedRow)
  else parts.candidate = value as CandidateLine
}

const NO_DENIALS: DenialFigures = {
  denied: 0,
  clients: NO_NAMES,
  addresses: NO_NAMES,
  networkNames: NO_NAMES,
  routes: [],
  networks: [],
}

/** Returns what denials have in common; `undefined` if samples are missing, or are more than there are networks. */
function figuresOf(denials: DenialLine, samples: readonly DistinctSample[]): DenialFigures | undefined {
  const [clients, addresses, networkNames, ...ofNetworks] = samples
  if (clients === undefined || addresses === undefined || networkNames === undefined) return undefined
  if (ofNetworks.length !== denials.networks.length) return undefined
  const networks = denials.networks.map(([network, denied], i) => {
    return { network, denied, addresses: ofNetworks[i] ?? NO_NAMES }
  })
  return { denied: denials.denied, clients, addresses, networkNames, routes: denials.routes, networks }
}
