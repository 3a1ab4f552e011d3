/** A successor may start so long before the process whose place it takes ends: a deploy starts new ones first. */
const OVERLAP_MS = 300_000
/** A process that ended earlier after its start has crashed, and stays missing even if it is restarted. */
const LIVED_MS = 300_000

/** What is known of the life of a process. */
export interface Life {
  readonly id: string
  readonly state: 'alive' | 'closed' | 'gone'
  readonly startedAtMs: number
  readonly lastSeenMs: number
}

/**
 * Returns the ids of those that are gone, but whose place another process has taken, as after a deploy or a restart.
 * Each takes one place, on any host. One that starts within five minutes after another is no successor of it, unless
 * the other had ended by then: many processes of a fleet start together.
 */
export function replacedIds(lives: readonly Life[]): ReadonlySet<string> {
  const ended = lives.filter(({ state }) => state !== 'alive').sort((a, b) => placeFreeMs(a) - placeFreeMs(b))
  const successors = [...lives].sort((a, b) => a.startedAtMs - b.startedAtMs)
  const replaced = new Set<string>()
  let next = 0
  for (const { startedAtMs } of successors) {
    const life = ended[next]
    if (life === undefined || startedAtMs < placeFreeMs(life)) continue
    next++
    if (life.state === 'gone' && life.lastSeenMs - life.startedAtMs >= LIVED_MS) replaced.add(life.id)
  }
  return replaced
}

/** Returns from when on a process that starts may be a successor. */
function placeFreeMs({ startedAtMs, lastSeenMs }: Life): number {
  return Math.max(lastSeenMs - OVERLAP_MS, Math.min(lastSeenMs, startedAtMs + OVERLAP_MS))
}
