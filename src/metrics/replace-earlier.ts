import { processWide } from '../util/process-wide.js'

const stops = processWide('metrics', () => new WeakMap<object, () => void>())

/**
 * Stops what measures into a registry or meter, and measures into it by `start` from now on: two modules that
 * both register, or a reload, would count each decision twice. Returns a function that stops it.
 */
export function replaceEarlier(target: object, start: () => () => void): () => void {
  stops.get(target)?.()
  const stopNow = start()
  const stop = () => {
    if (stops.get(target) !== stop) return // it was stopped or replaced before
    stops.delete(target)
    stopNow()
  }
  stops.set(target, stop)
  return stop
}
