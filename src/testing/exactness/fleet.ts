import type { ChildProcess } from 'node:child_process'
import { type ServedProcess, servedProcess } from './served-process.js'

export interface FleetOptions {
  readonly startProcess: (process: number) => ChildProcess
  readonly processes: number
  readonly timeout: number
}

/**
 * Starts processes, runs `body`, and ends them, whatever happens. Rejects if a process fails, or if all of
 * this takes longer than the time-out.
 */
export async function withFleet(
  options: FleetOptions,
  body: (processes: readonly ServedProcess[]) => Promise<void>,
): Promise<void> {
  const processes: ServedProcess[] = []
  const deadline = deadlineOf(options.timeout, processes)
  try {
    await Promise.race([deadline.passed, startAll(options, processes)])
    const failures = processes.map(({ failed }) => failed)
    await Promise.race([deadline.passed, ...failures, body(processes)])
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
      const reason = reasons.length > 0 ? reasons.join('\n') : 'all processes were still busy'
      reject(new Error(`storeExactness: the test took longer than timeout, ${timeoutMs} ms.\n${reason}`))
    }, timeoutMs)
  })
  return { passed, clear: () => clearTimeout(timer) }
}
