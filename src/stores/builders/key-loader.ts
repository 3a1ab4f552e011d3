import type { MaybePromise } from '../../util/maybe-promise.js'
import { sharedByRequests } from '../../util/shared-by-requests.js'

interface WaitingRead<T> {
  readonly key: string
  resolve(value: T): void
  reject(reason: unknown): void
}

/**
 * Returns a function that loads the value of a key. Keys requested in the same turn of the event loop are
 * loaded together, at most `maxKeys` by one call of `load`, which returns a value for each key, in order.
 */
export function keyLoader<T>(
  load: (keys: readonly string[]) => MaybePromise<readonly T[]>,
  maxKeys: number,
): (key: string) => Promise<T> {
  return sharedByRequests(() => loadTogether(load, maxKeys))
}

function loadTogether<T>(
  load: (keys: readonly string[]) => MaybePromise<readonly T[]>,
  maxKeys: number,
): (key: string) => Promise<T> {
  let waiting: WaitingRead<T>[] = []

  function flush(): void {
    const all = waiting
    waiting = []
    for (let start = 0; start < all.length; start += maxKeys) loadPart(all.slice(start, start + maxKeys))
  }

  async function loadPart(part: readonly WaitingRead<T>[]): Promise<void> {
    try {
      const values = await load(part.map(({ key }) => key))
      for (const [i, value] of values.entries()) part[i]?.resolve(value)
    } catch (reason) {
      for (const { reject } of part) reject(reason)
    }
  }

  return (key) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ key, resolve, reject }) === 1) Promise.resolve().then(flush)
    })
}
