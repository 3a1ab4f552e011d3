import { warnOnce } from '../../util/warn-once.js'

/** Tells the operator that units which nobody got could not be given back. */
export function tellNotGivenBack(reason: unknown): void {
  warnOnce(
    'HEADGATE_MEMCACHED_NOT_GIVEN_BACK',
    'headgate: what a denied charge had counted could not be given back. It stays taken until its window is over. ' +
      `(${reason instanceof Error ? reason.message : reason})`,
  )
}
