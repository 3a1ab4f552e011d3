import { recordResend, resentAtMs } from '../shared/resends.js'

/**
 * Records that a client made for one server reaches a cluster, which has slots. All its operations are sent
 * slot by slot from then on.
 */
export function recordSlots(client: object): void {
  recordResend(client)
}

/** Returns whether a client made for one server is known to reach one that has slots. */
export function hasSlots(client: object): boolean {
  return resentAtMs(client) !== undefined
}
