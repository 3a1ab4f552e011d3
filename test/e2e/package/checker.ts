import { fork } from 'node:child_process'
import { join } from 'node:path'

/** A process that type-checks projects with one TypeScript. */
export interface Checker {
  /** Returns the errors of a project, as tsc prints them. */
  check(project: string): Promise<string>
  end(): void
}

interface Waiting {
  resolve(errors: string): void
  reject(error: Error): void
}

/** Starts a process for the TypeScript of a folder, which is written in JavaScript: `check-projects.cjs`. */
export function startChecker(typescript: string): Checker {
  const child = fork(join(__dirname, 'check-projects.cjs'), [typescript])
  const waiting = new Map<string, Waiting>()
  child.on('message', ({ project, errors }: { project: string; errors: string }) => {
    waiting.get(project)?.resolve(errors)
    waiting.delete(project)
  })
  child.on('exit', (code, signal) => {
    for (const { reject } of waiting.values()) reject(new Error(`${typescript} ended: ${signal ?? code}`))
  })
  return {
    check: (project) =>
      new Promise((resolve, reject) => {
        waiting.set(project, { resolve, reject })
        child.send({ project })
      }),
    end: () => child.disconnect(),
  }
}
