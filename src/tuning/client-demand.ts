/** The largest demand of a client: how many units it asked for in one window of a limit, allowed or not. */
export interface ClientDemand {
  /** The identity as stores keep it. */
  readonly identity: string
  readonly peak: number
  /** How many clients it stands for: more than 1 in a sample. */
  readonly weight: number
  /** Whether the limit in force denied it. */
  readonly wasDenied: boolean
}

/** What the clients of one limit demanded over a time. */
export interface LimitDemand {
  readonly limitName: string
  /** The limit in force; absent if there is none, as for a log. */
  readonly limit?: number
  readonly windowMs: number
  readonly fromMs: number
  readonly toMs: number
  /** How many distinct clients there were, listed or not. */
  readonly clients: number
  /** All clients, or those with the largest peaks and a sample of the others. */
  readonly demands: readonly ClientDemand[]
}
