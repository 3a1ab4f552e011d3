/** A request of a trace. */
export interface TracedRequest {
  readonly atMs: number
  /** The IP address, or the user's name. */
  readonly client: string
}

/** Requests over a day, with who sent them. */
export interface Trace {
  readonly title: string
  /** How `headgate tune` learns from it. */
  readonly options: readonly string[]
  readonly windowMs: number
  readonly key: 'ip' | 'user'
  readonly request: string
  readonly requests: readonly TracedRequest[]
  /** Kinds of attackers, by what they are called. */
  readonly attackers: Readonly<Record<string, ReadonlySet<string>>>
  /** Clients that look like attackers, and are none. */
  readonly unusual: Readonly<Record<string, ReadonlySet<string>>>
}

export const DAY_MS = 86_400_000
const START_MS = Date.UTC(2026, 10, 24)

/** Returns a trace without its attackers. */
export function peaceful(trace: Trace): Trace {
  const attackers = new Set(Object.values(trace.attackers).flatMap((each) => [...each]))
  const requests = trace.requests.filter(({ client }) => !attackers.has(client))
  return { ...trace, title: `${trace.title}, without the attack`, requests, attackers: {} }
}

/** Returns a trace as a log in the combined format, the earliest request first. */
export function logOf({ requests, key, request }: Trace): string {
  const sorted = [...requests].sort((a, b) => a.atMs - b.atMs)
  return sorted
    .map(({ atMs, client }) => {
      const iso = new Date(START_MS + atMs).toISOString()
      const time = `24/Nov/2026:${iso.slice(11, 19)} +0000`
      const who = key === 'ip' ? `${client} - -` : `198.18.0.1 - ${client}`
      return `${who} [${time}] "${request} HTTP/1.1" 200 12 "-" "-"\n`
    })
    .join('')
}
