import type { ClientDemand, LimitDemand } from '../../tuning/client-demand.js'
import { identityName } from '../replay/identity.js'
import type { Replay } from '../replay/replay.js'

/** How many clients are named; the others are counted by their peaks. */
const MAX_NAMED = 1000

/** The clients with one peak: how many, and the number of one of them. */
interface SamePeak {
  clients: number
  readonly id: number
}

/**
 * Returns what the clients of a replayed log asked for, each with its largest count in a window. Memory: one
 * entry for each of the largest clients, and for each distinct peak below them.
 */
export function loggedDemand(replay: Replay, windowMs: number, limit: number | undefined): LimitDemand {
  const { clients, decisions } = replay
  const { windows, firstMs, lastMs } = decisions
  const peakOf = (id: number) => windows?.mostOf(id) ?? 0
  const byPeak = groupByPeak(clients.size, peakOf)
  const named = namedPeaks(byPeak)
  const listed: SamePeak[] = []
  for (let id = 0; id < clients.size; id++) if (named.has(peakOf(id))) listed.push({ clients: 1, id })
  for (const [peak, same] of byPeak) if (!named.has(peak)) listed.push(same)
  const names = clients.identitiesOf(new Set(listed.map(({ id }) => id)))
  return {
    ...{ limitName: 'log', windowMs, clients: clients.size },
    ...(limit !== undefined && { limit }),
    fromMs: firstMs,
    toMs: lastMs,
    demands: listed.map(({ clients: weight, id }): ClientDemand => {
      const peak = peakOf(id)
      return { identity: identityName(names.get(id) ?? ''), peak, weight, wasDenied: peak > (limit ?? peak) }
    }),
  }
}

function groupByPeak(clients: number, peakOf: (id: number) => number): ReadonlyMap<number, SamePeak> {
  const byPeak = new Map<number, SamePeak>()
  for (let id = 0; id < clients; id++) {
    const same = byPeak.get(peakOf(id))
    if (same === undefined) byPeak.set(peakOf(id), { clients: 1, id })
    else same.clients++
  }
  return byPeak
}

/** Returns the largest peaks whose clients are few enough to be named. */
function namedPeaks(byPeak: ReadonlyMap<number, SamePeak>): ReadonlySet<number> {
  const named = new Set<number>()
  let total = 0
  for (const [peak, { clients }] of [...byPeak].sort(([a], [b]) => b - a)) {
    total += clients
    if (total > MAX_NAMED) break
    named.add(peak)
  }
  return named
}
