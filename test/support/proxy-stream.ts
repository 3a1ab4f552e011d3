import type { Socket } from 'node:net'

/** How bytes are on their way. */
export interface Pace {
  /** How long each is on its way. Their order is kept. */
  readonly delayMs?: number | undefined
  /**
   * They arrive one at a time, each so much later than the one before. On a busy machine some are late, but
   * those after them are not.
   */
  readonly msPerByte?: number | undefined
}

/** One direction of a connection through a proxy. */
export interface Stream {
  /** Sends bytes on their way, or the end of the stream, which is `undefined`. */
  push(bytes: Buffer | undefined): void
  /** Lets what is on its way go on by the pace of now. */
  hurry(): void
  stop(): void
}

/** Passes bytes on in their order, by the pace of the moment at which they come in. */
export function stream(to: Socket, pace: () => Pace): Stream {
  const queue: { bytes: Buffer | undefined; dueAtMs: number }[] = []
  let timer: NodeJS.Timeout | undefined

  function passDue(): void {
    timer = undefined
    for (let [next] = queue; next !== undefined; [next] = queue) {
      const { msPerByte } = pace()
      const waitMs = next.dueAtMs - performance.now()
      if (waitMs > 0) {
        later(waitMs)
        return
      }
      const { bytes } = next
      const passed = msPerByte === undefined ? bytes : bytes?.subarray(0, 1)
      if (passed === undefined) to.end()
      else if (to.writable) to.write(passed)
      if (bytes === undefined || bytes.length === passed?.length) queue.shift()
      else next.bytes = bytes.subarray(1)
      const following = queue[0]
      if (following === undefined || msPerByte === undefined) continue
      following.dueAtMs = Math.max(following.dueAtMs, next.dueAtMs + msPerByte)
    }
  }

  function later(waitMs: number): void {
    timer = setTimeout(passDue, waitMs)
  }

  return {
    push(bytes) {
      queue.push({ bytes, dueAtMs: performance.now() + (pace().delayMs ?? 0) })
      if (timer === undefined) passDue()
    },
    hurry() {
      const latestMs = performance.now() + (pace().delayMs ?? 0)
      for (const each of queue) each.dueAtMs = Math.min(each.dueAtMs, latestMs)
      clearTimeout(timer)
      passDue()
    },
    stop() {
      clearTimeout(timer)
      queue.length = 0
    },
  }
}
