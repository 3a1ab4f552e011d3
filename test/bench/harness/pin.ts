import { execFileSync } from 'node:child_process'
import { cpus } from 'node:os'

/** Lets a process, and those that it starts later, run on one CPU only. Does nothing where there is one. */
export function pinTo(cpu: number, pid: number | undefined): void {
  if (pid === undefined) throw new Error('The process does not run.')
  if (cpus().length > 1) execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', `${cpu}`, `${pid}`])
}
