import { readImported } from '../options/imported-option.js'
import type { DelayableLimits, DelayOptions } from './delay/option.js'
import type { chargeRequest } from './request-steps.js'

/** A registered symbol, so that another copy of this package reads the delays of this one. */
export const DELAY: unique symbol = Symbol.for('headgate.delay') as never

/** Which requests to delay, which `requestDelay` returns. */
export interface RequestDelay<Req> {
  readonly [DELAY]: { readonly options: DelayOptions<Req> }
}

/** The code for delays. `requestDelay` brings it, so limiters without a delay do not bundle it. */
export interface DelaySource {
  /** Reads the options, for one limiter. `owner` and `option` are the names in errors. */
  read(owner: string, option: string): DelaySettings
}

/** The delay of a limiter's options. */
export interface DelaySettings {
  /** Throws a `TypeError` for limits whose requests cannot be delayed. */
  checkLimits(owner: string, limits: DelayableLimits): void
  /** Charges a request, and delays it if necessary. */
  readonly charge: typeof chargeRequest
}

/** Reads the option `delay`. Throws a `TypeError` for a value that is not from `requestDelay`. */
export function readDelayOption(owner: string, option: string, value: unknown): DelaySettings {
  const source = readImported(owner, option, value, DELAY, 'requestDelay', "{ after: 5, by: '500ms' }")
  return (source as DelaySource).read(owner, option)
}
