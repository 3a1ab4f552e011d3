import { type DistinctSample, NO_NAMES } from '../../util/distinct-sample.js'
import type {
  ClientFigures,
  DenialFigures,
  DeniedRow,
  LimiterFigures,
  NearClient,
  PastSlots,
} from '../figures/report.js'
import { decodeLine } from './decode-line.js'
import type { CandidateLine, DenialLine, NowLine } from './report-check.js'
import { LINES } from './report-lines.js'

/** The most clients of a limiter that are read. */
const MAX_CLIENTS = 1000

/** What a document says of limiters. */
export interface ReportsRead {
  readonly figures: readonly LimiterFigures[]
  /** By the name of the limiter. */
  readonly clients: ReadonlyMap<string, ClientFigures>
}

/** What the lines of a limiter say: its figures, or those of its clients. */
interface Parts {
  readonly name: string
  readonly now?: NowLine
  past?: PastSlots
  near?: readonly NearClient[]
  denials?: DenialLine
  candidate?: CandidateLine
  samples?: readonly DistinctSample[]
  readonly clients: DeniedRow[]
}

/** Reads the documents of one process. It remembers the lines of the last one. */
export class ReportReader {
  #known: ReadonlyMap<string, unknown> = new Map()
  /** What was made of the lines of denials, which stays the same object while they are the same. */
  readonly #denials = new WeakMap<DenialLine, DenialFigures | undefined>()

  /** Returns what some lines say of limiters, at most `most`, without what is not valid. */
  read(lines: readonly string[], most: number): ReportsRead {
    const decoded = new Map<string, unknown>()
    const limiters: (Parts | undefined)[] = []
    for (const line of lines) {
      const known = this.#known.get(line) ?? decodeLine(line)
      decoded.set(line, known)
      if (!isFirst(line)) add(limiters, line[0], known)
      else if (limiters.push(partsOf(known as NowLine | string | undefined)) > most) break
    }
    this.#known = decoded
    const found = limiters.slice(0, most).filter((parts) => parts !== undefined)
    return {
      figures: found.flatMap(figuresOf),
      clients: new Map(found.flatMap((parts) => this.#clientsOf(parts))),
    }
  }

  #clientsOf(parts: Parts): readonly (readonly [limiter: string, clients: ClientFigures])[] {
    const { name, now, near = [], clients, candidate } = parts
    const denials = this.#denialsOf(parts)
    if (now !== undefined || denials === undefined) return []
    return [[name, { near, denials, denied: clients, ...candidate }]]
  }

  #denialsOf({ denials, samples = [] }: Pick<Parts, 'denials' | 'samples'>): DenialFigures | undefined {
    if (denials === undefined) return NO_DENIALS
    const known = this.#denials.get(denials)
    if (known?.clients === samples[0] && known?.addresses === samples[1]) return known
    const figures = denialsOf(denials, samples)
    this.#denials.set(denials, figures)
    return figures
  }
}

function figuresOf({ now, past }: Parts): readonly LimiterFigures[] {
  return now === undefined || past === undefined ? [] : [{ ...now, traffic: { ...now.traffic, past } }]
}

function isFirst(line: string): boolean {
  return line.startsWith(LINES.now) || line.startsWith(LINES.name)
}

function partsOf(first: NowLine | string | undefined): Parts | undefined {
  if (first === undefined) return undefined
  return typeof first === 'string'
    ? { name: first, clients: [] }
    : { name: first.name, now: first, clients: [] }
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

/** What is known of the clients of a limiter that has none. */
export const NO_CLIENTS: ClientFigures = { near: [], denials: NO_DENIALS, denied: [] }

/** Returns what denials have in common; `undefined` if samples are missing, or are more than there are networks. */
function denialsOf(denials: DenialLine, samples: readonly DistinctSample[]): DenialFigures | undefined {
  const [clients, addresses, networkNames, ...ofNetworks] = samples
  if (clients === undefined || addresses === undefined || networkNames === undefined) return undefined
  if (ofNetworks.length !== denials.networks.length) return undefined
  const networks = denials.networks.map(([network, denied], i) => {
    return { network, denied, addresses: ofNetworks[i] ?? NO_NAMES }
  })
  return { denied: denials.denied, clients, addresses, networkNames, routes: denials.routes, networks }
}
