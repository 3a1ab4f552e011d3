/** What a server took for a piece of work. */
export interface ServerUsage {
  /** CPU of the whole server, user and system. */
  readonly serverCpuNs: number
  /** How many requests it was sent. */
  readonly requests: number
  /** What its commands took, by its own clock: 0 where it does not tell. */
  readonly commandNs: number
}

/** Starts measuring by a server's own counters. Returns a function that returns what was used since. */
export async function measureServer(read: () => Promise<ServerUsage>): Promise<() => Promise<ServerUsage>> {
  const before = await read()
  return async () => {
    const after = await read()
    return {
      serverCpuNs: after.serverCpuNs - before.serverCpuNs,
      requests: after.requests - before.requests,
      commandNs: after.commandNs - before.commandNs,
    }
  }
}
