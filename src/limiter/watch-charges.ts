import type { ChargeSubject } from './bind-limit.js'

/** Called with the subject of a charge. Returns the watch for the next charge; `undefined` once it is over. */
export type Watch = (subject: unknown) => Watch | undefined

/** The functions with which a limiter charges. A watch may replace them for a while. */
export type Chargers = Record<'chargeLimits' | 'peekLimits', ChargeSubject>

/**
 * Watches the charges of a limiter until the watch is over, and then restores the limiter's own functions. If
 * a later watch is still in place, restores them after it.
 */
export function watchCharges(chargers: Chargers, first: Watch | undefined): void {
  if (first === undefined) return
  const plainChargers = { ...chargers }
  let watch: Watch | undefined = first
  const watchedCharger = (name: keyof Chargers): ChargeSubject =>
    function chargeWatched(subject, cost, finish) {
      watch = watch?.(subject)
      if (watch === undefined && chargers[name] === watchedChargers[name])
        Object.assign(chargers, plainChargers)
      return plainChargers[name](subject, cost, finish)
    }
  const watchedChargers: Chargers = {
    chargeLimits: watchedCharger('chargeLimits'),
    peekLimits: watchedCharger('peekLimits'),
  }
  Object.assign(chargers, watchedChargers)
}
