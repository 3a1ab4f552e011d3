import { scheduler } from 'node:timers/promises'
import { callbackify } from 'node:util'

// Test runners fake the timers of an application, often before they import this package, and jsdom has no
// `setImmediate`. They cannot fake the functions here. Otherwise, no batch would be sent until a test
// advanced its clock.

/**
 * Calls back when the current code and the promise callbacks that are due have run, like `process.nextTick`.
 * Jest fakes that function only in the copy of `process` that modules get. Node.js calls the original.
 */
export const afterCode: (callback: () => void) => void = /* @__PURE__ */ callbackify(async () => undefined)

/**
 * Calls back after the events that have arrived in this turn of the event loop, like `setImmediate`; at once
 * where a platform has no turns, as at the top of a Worker.
 */
export const afterTurn: (callback: () => void) => void = /* @__PURE__ */ callbackify(async () =>
  scheduler.yield(),
)

/** Resolves after a time. */
export const pause: (ms: number) => Promise<void> = /* @__PURE__ */ scheduler.wait.bind(scheduler)
