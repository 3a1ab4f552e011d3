import { readdirSync, readFileSync } from 'node:fs'

const TICK_NS = 1e7 // of the times in /proc/<pid>/stat, on every Linux
/** Where fields stand in /proc/<pid>/stat behind the name: see proc(5), less three. */
const PARENT = 1
const ENDED_USER = 13
const ENDED_SYSTEM = 14

/**
 * CPU of a process and of all its children, those that have ended too. Threads that have ended are left
 * out.
 */
export function cpuNsOfTree(pid: number): number {
  return [pid, ...childrenOf(pid)].reduce((sum, each) => sum + threadsNs(each), endedChildrenNs(pid))
}

function childrenOf(pid: number): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
  return pids.filter((each) => Number(statOf(each)[PARENT]) === pid)
}

/** To the nanosecond: the first number of each thread's schedstat. */
function threadsNs(pid: number): number {
  const threads = ifThere(() => readdirSync(`/proc/${pid}/task`)) ?? []
  return threads.reduce((sum, thread) => {
    const text = ifThere(() => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1'))
    return sum + Number(text?.split(' ')[0] ?? 0)
  }, 0)
}

function endedChildrenNs(pid: number): number {
  const fields = statOf(pid)
  return TICK_NS * (Number(fields[ENDED_USER]) + Number(fields[ENDED_SYSTEM]))
}

function statOf(pid: number): string[] {
  const text = ifThere(() => readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? ''
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}

/** Processes and threads end between being listed and being read. */
function ifThere<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ESRCH') return undefined
    throw error
  }
}
