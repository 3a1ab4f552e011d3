import { processWide } from '../util/process-wide.js'

const stops = processWide('metrics', () => new WeakMap<object, () => void>())

/**
 * Starts to measure into a registry or meter, and stops what measured into it before. Otherwise, two modules
 * that both register, or a reload, would count each decision twice. Returns a function that stops it.
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
