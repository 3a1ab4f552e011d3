/** What a piece of work took. */
export interface Usage {
  readonly wallNs: number
  readonly cpuNs: number
}

/**
 * Starts measuring. Returns a function that returns what was used since. CPU is that of the whole process.
 */
export function measure(): () => Usage {
  const cpu = process.cpuUsage()
  const start = process.hrtime.bigint()
  return () => {
    const wallNs = Number(process.hrtime.bigint() - start)
    const { user, system } = process.cpuUsage(cpu)
    return { wallNs, cpuNs: (user + system) * 1000 }
  }
}

/** Collects garbage, so that one contender does not pay for another's. */
export function collectGarbage(): void {
  if (globalThis.gc === undefined) throw new Error('Run this with node --expose-gc.')
  globalThis.gc()
}
