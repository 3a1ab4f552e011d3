import { setTimeout as pause } from 'node:timers/promises'

interface Patience {
  /** Default: 20 seconds, since servers start on computers that are busy with other tests. */
  readonly timeoutMs?: number
  readonly everyMs?: number
}

/**
 * Asks again and again until the answer is truthy, and returns it. A check that throws counts as "not yet";
 * when the time is up, the error names what was waited for, and its cause is what the last check threw.
 */
export async function until<T>(
  what: string,
  check: () => T | Promise<T>,
  { timeoutMs = 20_000, everyMs = 20 }: Patience = {},
): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    let cause: unknown
    try {
      const answer = await check()
      if (answer) return answer
    } catch (error) {
      cause = error
    }
    if (performance.now() > deadline) throw new Error(`Waited ${timeoutMs} ms in vain: ${what}`, { cause })
    await pause(everyMs)
  }
}

/** Starts several things at once; when one fails, the others are stopped before its error is thrown. */
export async function startAll<T extends { stop(): Promise<void> }>(starts: Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(starts)
  const started = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const failed = results.find((result) => result.status === 'rejected')
  if (failed === undefined) return started
  await stopAll(started)
  throw failed.reason
}

/** Stops several things at once. */
export async function stopAll(started: readonly { stop(): Promise<void> }[]): Promise<void> {
  await Promise.all(started.map((one) => one.stop()))
}
