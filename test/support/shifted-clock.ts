import { performance } from 'node:perf_hooks'

/** Sets the monotonic clock forward until `jest.restoreAllMocks`, so that what runs now has run for longer. */
export function setClockForward(ms: number): void {
  const now = performance.now.bind(performance)
  jest.spyOn(globalThis.performance, 'now').mockImplementation(() => now() + ms)
}

/** Stops the monotonic clock until `jest.restoreAllMocks`. Returns what sets it forward. */
export function stopClock(): (ms: number) => void {
  let nowMs = performance.now()
  jest.spyOn(globalThis.performance, 'now').mockImplementation(() => nowMs)
  return (ms) => {
    nowMs += ms
  }
}
