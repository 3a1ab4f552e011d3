import type { Store } from 'headgate/store'
import type { Parts } from '../../src/testing/conformance/store-calls.js'
import { chargeRepeatedly, newTally, type Tally } from './tally.js'

/**
 * Charges until the parent process sends `stop`, or kills this one. The parent hears of each charge before
 * it is sent, so it knows how many may have been counted.
 */
export async function chargeForParent(store: Store, parts: Parts, callers: number): Promise<void> {
  const tally = newTally()
  let isStopped = false
  process.on('message', (message) => {
    if (message === 'stop') isStopped = true // any other is the store's
  })
  const beforeSend = () => report(tally)
  await chargeRepeatedly(store, { parts, callers, tally, goesOn: () => !isStopped, beforeSend })
  await report(tally)
  process.disconnect()
}

/** Resolves once the tally is in the channel to the parent. */
function report(tally: Tally): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(tally, undefined, undefined, (error) => (error ? reject(error) : resolve()))
  })
}
