import { setTimeout as pause } from 'node:timers/promises'

interface WaitOptions {
  /** Default: a minute, since servers start on computers that are busy with other tests. */
  readonly timeoutMs?: number
  readonly everyMs?: number
}

/**
 * Polls a check until it returns a truthy value, and returns that. A check that throws counts as "not yet".
 * Rejects after `timeoutMs` with an error that names the condition; its cause is what the last check threw.
 */
export async function until<T>(
  what: string,
  check: () => T | Promise<T>,
  { timeoutMs = 60_000, everyMs = 20 }: WaitOptions = {},
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
    if (performance.now() > deadline) throw new Error(`Timed out after ${timeoutMs} ms: ${what}`, { cause })
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
