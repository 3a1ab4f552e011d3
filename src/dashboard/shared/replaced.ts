/** How long before the end of a process its successor may start: a deploy starts new processes first. */
const OVERLAP_MS = 300_000
/** How long after its end a process may be seen last: reports are read every two seconds. */
const SEEN_LATE_MS = 3000
/** A process that ended within this time after its start may crash after each start. */
const BRIEF_MS = 300_000

/** What is known of the life of a process. */
export interface Life {
  readonly id: string
  readonly state: 'alive' | 'closed' | 'gone'
  readonly startedAtMs: number
  readonly lastSeenMs: number
}

/**
 * Returns the ids of those that are gone, but whose place another process has taken, as after a deploy or a restart.
 * Each takes one place, on any host. A process that starts within five minutes after another is not its successor,
 * unless the other had ended by then: many processes of a fleet start together. A process that ends soon after its
 * start stays missing if it took the place of one that did the same: it crashes after each start.
 */
export function replacedIds(lives: readonly Life[]): ReadonlySet<string> {
  const ended = lives.filter(({ state }) => state !== 'alive').sort((a, b) => placeFreeMs(a) - placeFreeMs(b))
  const successors = [...lives].sort((a, b) => a.startedAtMs - b.startedAtMs)
  const replaced = new Set<string>()
  const afterCrash = new Set<string>()
  let next = 0
  for (const { id, startedAtMs } of successors) {
    const life = ended[next]
    if (life === undefined || startedAtMs < placeFreeMs(life)) continue
    next++
    if (life.state !== 'gone') continue
    const isBrief = life.lastSeenMs - life.startedAtMs < BRIEF_MS
    if (isBrief) afterCrash.add(id)
    if (!isBrief || !afterCrash.has(life.id)) replaced.add(life.id)
  }
  return replaced
}

/** Returns from when on a process that starts may be a successor. */
function placeFreeMs({ startedAtMs, lastSeenMs }: Life): number {
  const endedMs = lastSeenMs - SEEN_LATE_MS
  return Math.max(startedAtMs + 1, endedMs - OVERLAP_MS, Math.min(endedMs, startedAtMs + OVERLAP_MS))
}
