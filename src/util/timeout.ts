/** Work that is under way, and how it is given up. */
interface UnderWay {
  readonly dueAtMs: number
  readonly giveUp: () => void
}

/**
 * Rejects work that takes longer than `deadlineMs`, and calls `onLate`. What has come while the process was busy is read first. One
 * timer serves all that is under way, and is rarely set, since almost everything is in time. It does not keep the process running:
 * what is waited for does.
 */
export function timeout(deadlineMs: number): <T>(work: Promise<T>, onLate?: () => void) => Promise<T> {
  const underWay = new Set<UnderWay>() // in the order in which it is due
  let isWatched = false

  function watch(): void {
    const [first] = underWay
    if (isWatched || first === undefined) return
    isWatched = true
    setTimeout(() => setImmediate(look), Math.max(1, first.dueAtMs - performance.now())).unref()
  }

  function look(): void {
    isWatched = false
    const nowMs = performance.now()
    for (const work of underWay) {
      if (work.dueAtMs > nowMs) break
      underWay.delete(work)
      work.giveUp()
    }
    watch()
  }

  return (work, onLate) =>
    new Promise((resolve, reject) => {
      const dueAtMs = performance.now() + deadlineMs
      const giveUp = () => {
        reject(new Error(`no answer within ${deadlineMs} ms`))
        onLate?.()
      }
      const entry = { dueAtMs, giveUp }
      underWay.add(entry)
      watch()
      work.then(
        (result) => {
          underWay.delete(entry)
          resolve(result)
        },
        (reason) => {
          underWay.delete(entry)
          reject(reason)
        },
      )
    })
}
