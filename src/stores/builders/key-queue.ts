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
  /** The calls that wait for a key in use; `undefined` while none does. */
  const waiting = new Map<string, Call<T>[] | undefined>()

  function wait(key: string, operations: readonly Operation[]): Promise<readonly T[]> {
    return new Promise((resolve, reject) => {
      const calls = waiting.get(key)
      const call = { operations, resolve, reject }
      if (calls === undefined) waiting.set(key, [call])
      else calls.push(call)
    })
  }

  async function runWaiting(key: string): Promise<void> {
    for (let calls = waiting.get(key); calls !== undefined; calls = waiting.get(key)) {
      waiting.set(key, undefined)
      try {
        const results = [
          ...(await run(
            key,
            calls.flatMap(({ operations }) => operations),
          )),
        ]
        for (const { operations, resolve } of calls) resolve(results.splice(0, operations.length))
      } catch (reason) {
        for (const { reject } of calls) reject(reason)
      }
    }
    waiting.delete(key)
  }

  return async (key, operations) => {
    if (waiting.has(key)) return wait(key, operations)
    waiting.set(key, undefined)
    try {
      return await run(key, operations)
    } finally {
      if (waiting.get(key) === undefined) waiting.delete(key)
      else runWaiting(key)
    }
  }
}
