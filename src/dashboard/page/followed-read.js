import { RETRY_MS } from './server.js'

/**
 * Keeps what a view has read up to date. `read(isLatest, …)` reads it, and resolves with whether all of it could be
 * read; only the latest read shows what it got. `concerns(event)` returns whether an event may say that it has changed,
 * and `includes(event)` whether what was read last has that already.
 */
export function followedRead({ read, concerns, includes = () => false, freshMs = Number.POSITIVE_INFINITY }) {
  let nextMs = 0
  let seen
  let latest = 0

  async function load(...given) {
    const turn = ++latest
    const isLatest = () => turn === latest
    nextMs = performance.now() + freshMs
    const isComplete = await read(isLatest, ...given)
    if (isLatest() && !isComplete) nextMs = performance.now() + RETRY_MS
  }

  return {
    load,
    /** Reads it if it is time, or if the last event that concerns it is new. */
    follow(events) {
      const last = events.findLast(concerns)
      const isNews = last !== undefined && last.id !== seen && !includes(last)
      seen = last?.id
      if (isNews || performance.now() >= nextMs) void load()
    },
    /** Has it read again with the next figures. */
    expire() {
      nextMs = 0
    },
  }
}
