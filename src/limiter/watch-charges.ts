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
  const plain = { ...chargers }
  let watch: Watch | undefined = first
  const watched = (name: keyof Chargers): ChargeSubject =>
    function chargeWatched(subject, cost, finish) {
      watch = watch?.(subject)
      if (watch === undefined && chargers[name] === replaced[name]) Object.assign(chargers, plain)
      return plain[name](subject, cost, finish)
    }
  const replaced: Chargers = { chargeLimits: watched('chargeLimits'), peekLimits: watched('peekLimits') }
  Object.assign(chargers, replaced)
}
