import { isPromise, type MaybePromise } from './maybe-promise.js'

const callbacksOf = new WeakMap<object, Set<() => void>>()

/**
 * Calls `callback` when a signal aborts. Returns a function that cancels that. A signal has one listener,
 * however many wait for it: Node.js compares each new listener of a signal with all that it has.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const callbacks = callbacksOf.get(signal) ?? new Set()
  callbacksOf.set(signal, callbacks.add(callback))
  if (callbacks.size === 1) signal.addEventListener('abort', callAll)
  return () => {
    callbacks.delete(callback)
    if (callbacks.size === 0) signal.removeEventListener('abort', callAll)
  }
}

/** Resolves with a value; rejects with the reason of the signal if that aborts first. */
export async function unlessAborted<T>(value: MaybePromise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined || !isPromise(value)) return value
  let cancel: (() => void) | undefined
  const aborted = new Promise<never>((_, reject) => {
    cancel = onAbort(signal, () => reject(signal.reason))
  })
  try {
    return await Promise.race([value, aborted])
  } finally {
    cancel?.()
  }
}

function callAll(this: AbortSignal): void {
  for (const callback of callbacksOf.get(this) ?? []) callback()
}
