import { builtin, isIsolate } from '../platform.js'

// Test runners fake the timers of an application, often before they import this package, and jsdom has no
// `setImmediate`. They cannot fake the Node.js functions used here. Otherwise, no batch would be sent until
// a test advanced its clock.

/** Node.js modules that defer. Not used on isolates, where they may run a callback for another request. */
const { callbackify } = /* @__PURE__ */ nodeModule<typeof import('node:util')>('node:util')
const { scheduler } =
  /* @__PURE__ */ nodeModule<typeof import('node:timers/promises')>('node:timers/promises')

/* @__NO_SIDE_EFFECTS__ */
function nodeModule<Module>(name: `node:${string}`): Partial<Module> {
  return (isIsolate() ? undefined : builtin<Module>(name)) ?? {}
}

/**
 * Calls back when the current code and the promise callbacks that are due have run, like `process.nextTick`.
 * Jest fakes that function only in the copy of `process` that modules get. Node.js calls the original.
 */
export const afterCode: (callback: () => void) => void =
  callbackify === undefined ? (callback) => queueMicrotask(callback) : callbackify(async () => undefined)

/**
 * Calls back after the events that have arrived in this turn of the event loop, like `setImmediate`. While
 * modules load, isolates have no timers, so it then calls back after the current code.
 */
export const afterTurn: (callback: () => void) => void =
  callbackify === undefined || scheduler === undefined
    ? callInTimer
    : callbackify(async () => scheduler.yield())

function callInTimer(callback: () => void): void {
  try {
    setTimeout(callback, 0)
  } catch {
    queueMicrotask(callback)
  }
}

/** Resolves after a time. */
export function pause(ms: number): Promise<void> {
  return scheduler?.wait(ms) ?? new Promise((resolve) => setTimeout(resolve, ms))
}
