import type { ChildProcess } from 'node:child_process'
import type { Counts, Figures, Load, WirePart } from './protocol.js'
import { type ServedProcess, servedProcess } from './served-process.js'

/** Processes that share a store. */
export interface Fleet {
  /** Has all processes charge at the same time. Resolves with the sum of what came of it. */
  load(loadOf: (process: number) => Load): Promise<Counts>
  /** Returns the figures of parts as one of the processes sees them. */
  peek(parts: readonly WirePart[]): Promise<readonly Figures[]>
  /** Deletes keys. */
  forget(parts: readonly WirePart[]): Promise<unknown>
}

export interface FleetOptions {
  readonly startProcess: (process: number) => ChildProcess
  readonly processes: number
  readonly timeoutMs: number
}

/**
 * Starts processes, runs `body`, and ends them, whatever happens. Rejects if a process fails, or if all of
 * this takes longer than the time-out.
 */
export async function withFleet(options: FleetOptions, body: (fleet: Fleet) => Promise<void>): Promise<void> {
  const processes: ServedProcess[] = []
  const deadline = deadlineOf(options.timeoutMs, processes)
  try {
    await Promise.race([deadline.passed, startAll(options, processes)])
    const failures = processes.map(({ failed }) => failed)
    await Promise.race([deadline.passed, ...failures, body(fleetOf(processes))])
    await Promise.all(processes.map((each) => each.end()))
  } finally {
    deadline.clear()
    await Promise.all(processes.map((each) => each.kill()))
  }
}

async function startAll(
  { startProcess, processes: count }: FleetOptions,
  processes: ServedProcess[],
): Promise<void> {
  for (let i = 0; i < count; i++)
    processes.push(servedProcess(startProcess(i), `process ${i + 1} of ${count}`))
  await Promise.all(processes.map(({ ready, failed }) => Promise.race([ready, failed])))
}

function deadlineOf(timeoutMs: number, processes: readonly ServedProcess[]) {
  let timer: NodeJS.Timeout | undefined
  const passed = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const reasons = processes.flatMap((each) => each.pending() ?? [])
      const reason = reasons.length > 0 ? reasons.join('\n') : 'the processes were busy'
      reject(new Error(`storeExactness: the test took longer than timeoutMs, ${timeoutMs} ms.\n${reason}`))
    }, timeoutMs)
  })
  return { passed, clear: () => clearTimeout(timer) }
}

function fleetOf(processes: readonly ServedProcess[]): Fleet {
  const first = processes[0] as ServedProcess
  return {
    async load(loadOf) {
      return sumOf(await Promise.all(processes.map((each, i) => each.request('load', loadOf(i)))))
    },
    peek: (parts) => first.request('peek', parts),
    forget: (parts) => first.request('forget', parts),
  }
}

function sumOf(counts: readonly Counts[]): Counts {
  const unitsTaken: Record<string, number> = {}
  for (const each of counts)
    for (const [key, units] of Object.entries(each.taken)) unitsTaken[key] = (unitsTaken[key] ?? 0) + units
  const sum = (name: 'allowed' | 'denied') => counts.reduce((total, each) => total + each[name], 0)
  return { allowed: sum('allowed'), denied: sum('denied'), taken: unitsTaken }
}
