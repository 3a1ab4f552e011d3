import type { Operation } from '../operation.js'

/** Applies operations on one key, in order. Returns a result for each. */
type RunKey<T> = (key: string, operations: readonly Operation[]) => Promise<readonly T[]>

interface Call<T> {
  readonly operations: readonly Operation[]
  resolve(results: readonly T[]): void
  reject(reason: unknown): void
}

/**
 * Creates a function that calls `run` with at most one call per key at a time. The operations of calls that
 * wait for a key then run together, so that a process never races itself by compare-and-swap.
 */
export function keyQueue<T>(run: RunKey<T>): RunKey<T> {
  const waiting = new Map<string, Call<T>[]>()

  async function runQueue(key: string, first: readonly Call<T>[]): Promise<void> {
    for (let calls = first; calls.length > 0; calls = waiting.get(key) as Call<T>[]) {
      waiting.set(key, [])
      try {
        const all = calls.flatMap(({ operations }) => operations)
        const results = [...(await run(key, all))]
        for (const { operations, resolve } of calls) resolve(results.splice(0, operations.length))
      } catch (reason) {
        for (const { reject } of calls) reject(reason)
      }
    }
    waiting.delete(key)
  }

  return (key, operations) =>
    new Promise((resolve, reject) => {
      const call = { operations, resolve, reject }
      const queue = waiting.get(key)
      if (queue === undefined) runQueue(key, [call])
      else queue.push(call)
    })
}
