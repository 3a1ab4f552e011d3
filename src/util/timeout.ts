/** The rejection of a promise that has not settled in time. */
export class TimeoutError extends Error {
  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`)
  }
}

interface Entry {
  readonly dueAtMs: number
  readonly expire: () => void
}

/**
 * Creates a function that rejects with `TimeoutError` where a promise takes longer than `timeoutMs`. What
 * arrived while the process was busy is read first. One timer serves all pending promises; it does not keep
 * the process running.
 */
export function timeout(timeoutMs: number): <T>(work: Promise<T>) => Promise<T> {
  const pending = new Set<Entry>() // in the order in which they are due
  let hasTimer = false

  function startTimer(): void {
    const [first] = pending
    if (hasTimer || first === undefined) return
    hasTimer = true
    setTimeout(() => setImmediate(expireDue), Math.max(1, first.dueAtMs - performance.now())).unref()
  }

  function expireDue(): void {
    hasTimer = false
    const nowMs = performance.now()
    for (const entry of pending) {
      if (entry.dueAtMs > nowMs) break
      pending.delete(entry)
      entry.expire()
    }
    startTimer()
  }

  return (work) =>
    new Promise((resolve, reject) => {
      const expire = () => reject(new TimeoutError(timeoutMs))
      const entry = { dueAtMs: performance.now() + timeoutMs, expire }
      pending.add(entry)
      startTimer()
      work.then(
        (result) => {
          pending.delete(entry)
          resolve(result)
        },
        (reason) => {
          pending.delete(entry)
          reject(reason)
        },
      )
    })
}
