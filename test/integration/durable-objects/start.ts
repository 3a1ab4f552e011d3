import { join } from 'node:path'
import { type Running, startIn } from '../../runtimes/start-in.js'

/** A workerd with the Worker of these tests in four isolates, whose objects are in the first one. */
export interface Workers {
  readonly running: Running
  /** Asks the Worker for a path with these parameters. */
  ask<T>(path: string, parameters?: Readonly<Record<string, string | number>>): Promise<T>
}

/** How many isolates there are. */
export const ISOLATES = 4

export async function startWorkers(): Promise<Workers> {
  const running = await startIn('workerd', join(__dirname, 'worker.ts'), {
    durableObjects: { LIMITS: 'TestedObject', FEW_KINDS: 'FewKinds' },
    isolates: ISOLATES - 1,
  })
  return {
    running,
    async ask(path, parameters = {}) {
      const query = new URLSearchParams(
        Object.entries(parameters).map(([name, value]) => [name, String(value)]),
      )
      const response = await fetch(`${running.url}${path}?${query}`, { method: 'POST' })
      const text = await response.text()
      if (!response.ok) throw new Error(`${response.status}: ${text}`)
      return JSON.parse(text)
    },
  }
}
