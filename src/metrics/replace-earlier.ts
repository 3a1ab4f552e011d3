import { processWide } from '../util/process-wide.js'
import type { NamedStores } from './options.js'

interface Running {
  readonly stores: NamedStores
  readonly stop: () => void
}

const running = processWide('metrics', () => new WeakMap<object, Running>())

/**
 * Stops what measures into a registry or meter, and measures into it by `start` from now on: two modules that
 * both register, or a reload, would count each decision twice. `start` gets the stores of both, of which a
 * later one replaces an earlier one of the same name. Returns a function that stops it.
 */
export function replaceEarlier(
  target: object,
  added: NamedStores,
  start: (stores: NamedStores) => () => void,
): () => void {
  const earlier = running.get(target)
  earlier?.stop()
  const stores = { ...earlier?.stores, ...added }
  const stopNow = start(stores)
  const stop = () => {
    if (running.get(target)?.stop !== stop) return // it was stopped or replaced before
    running.delete(target)
    stopNow()
  }
  running.set(target, { stores, stop })
  return stop
}
