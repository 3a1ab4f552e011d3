import { execFileSync } from 'node:child_process'
import { cpus } from 'node:os'

/** Pins a process, and those that it starts later, to one CPU. Does nothing if the machine has only one. */
export function pinTo(cpu: number, pid: number | undefined): void {
  if (pid === undefined) throw new Error('The process is not running.')
  if (cpus().length > 1) execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', `${cpu}`, `${pid}`])
}
