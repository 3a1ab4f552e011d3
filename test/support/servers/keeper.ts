import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Reads process ids, one a line, until the pipe closes; then ends the last one with its children, and
 * removes the folder.
 */
const KEEP = `
pid=
while read -r line; do pid=$line; done
if [ -n "$pid" ]; then kill -KILL "$pid" $(cat "/proc/$pid/task/$pid/children"); fi
rm -rf "$0" || { sleep 1; rm -rf "$0"; }`

export interface Keeper {
  readonly folder: string
  /** Names the process that must not outlive this one; `undefined` once it has ended. */
  guard(pid: number | undefined): void
  /** Ends the guarded process and removes the folder. Resolves when both are gone. */
  release(): Promise<void>
}

/** A file system in memory, on Linux. */
const IN_MEMORY = '/dev/shm'

/**
 * Makes an empty folder and a shell that outlives this process by a moment: however this process ends, even
 * by SIGKILL, its end of the pipe closes, and the shell ends the server and removes the folder. Handlers of
 * `exit` would not do: they do not run after a signal, and inside jest they do not run at all.
 *
 * With `inMemory`, what a server writes there survives its process, but not the machine.
 */
export async function keepFolder(name: string, inMemory = false): Promise<Keeper> {
  const parent = inMemory && existsSync(IN_MEMORY) ? IN_MEMORY : tmpdir()
  const folder = await mkdtemp(join(parent, `headgate-${name}-`))
  const shell = spawn('/bin/sh', ['-c', KEEP, folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  const ended = once(shell, 'exit')
  shell.unref()
  ;(shell.stdin as Socket).unref()
  return {
    folder,
    guard: (pid) => void shell.stdin.write(`${pid ?? ''}\n`),
    async release() {
      shell.ref()
      shell.stdin.end()
      await ended
    },
  }
}
