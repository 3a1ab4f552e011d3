/** What an operator has done, with an `id` if it may be recorded again. */
export type RecordedEvent = Omit<LoggedEvent, 'id' | 'atMs'> & Partial<Pick<LoggedEvent, 'id'>>

/** What happened, with who did it, and why, where somebody did. */
export interface LoggedEvent {
  readonly id: string
  readonly atMs: number
  readonly kind:
    | 'breaker'
    | 'process-seen'
    | 'process-closed'
    | 'process-gone'
    | 'block'
    | 'release'
    | 'settings'
    | 'mode'
    | 'candidate'
    | 'limits-lost'
    | 'tune'
  /** One sentence, such as `redis has been unavailable on 10.0.0.7:6379`. */
  readonly text: string
  /** Absent if it is not about one limiter. */
  readonly limiter?: string
  readonly by?: string
  readonly reason?: string
  /** What machines read: the state of a breaker, the server, the identities, the `id` of a change. */
  readonly details?: Readonly<Record<string, string | number | readonly string[]>>
}
