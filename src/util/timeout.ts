/** The rejection of a promise that has not settled in time. */
export class TimeoutError extends Error {
  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`)
  }
}

/**
 * Creates a function that rejects with `TimeoutError` when a promise takes longer than `timeoutMs`. Results
 * that arrived while the event loop was blocked are read first. One timer serves all pending promises; it
 * does not keep the process running.
 */
export function timeout(timeoutMs: number): <T>(work: Promise<T>) => Promise<T> {
  const pending = new Map<() => void, number>() // how each expires, and when: the next one comes first
  let hasTimer = false

  function startTimer(): void {
    const [dueAtMs] = pending.values()
    if (hasTimer || dueAtMs === undefined) return
    hasTimer = true
    setTimeout(() => setImmediate(expireDue), Math.max(1, dueAtMs - performance.now())).unref()
  }

  function expireDue(): void {
    hasTimer = false
    const nowMs = performance.now()
    for (const [expire, dueAtMs] of pending) {
      if (dueAtMs > nowMs) break
      pending.delete(expire)
      expire()
    }
    startTimer()
  }

  return (work) =>
    new Promise((resolve, reject) => {
      const expire = () => reject(new TimeoutError(timeoutMs))
      pending.set(expire, performance.now() + timeoutMs)
      startTimer()
      work.then(
        (result) => {
          pending.delete(expire)
          resolve(result)
        },
        (reason) => {
          pending.delete(expire)
          reject(reason)
        },
      )
    })
}
