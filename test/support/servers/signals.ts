import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Those that a process never hears of. PostgreSQL has a child for each connection. */
const FOR_CHILDREN_TOO: readonly NodeJS.Signals[] = ['SIGKILL', 'SIGSTOP', 'SIGCONT']

/** Sends a signal to a process, and to its children where it could not pass the signal on. */
export function send(child: ChildProcess, signal: NodeJS.Signals): void {
  const children = FOR_CHILDREN_TOO.includes(signal) ? childrenOf(child) : []
  child.kill(signal)
  for (const pid of children) {
    try {
      process.kill(pid, signal)
    } catch {} // it has just ended
  }
}

/** From /proc on Linux; empty elsewhere. */
function childrenOf({ pid }: ChildProcess): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}
