import { consecutive } from 'headgate'
import { chargeStore } from '../../support/store-calls.js'
import { openInChild } from './open-in-child.js'

/**
 * Makes a charge, which begins a purge, ends the pool of the store that is still open, and has nothing more
 * to do.
 */
async function main(): Promise<void> {
  Math.random = () => 0 // a purge begins at once
  const { pool, store } = openInChild()
  const [verdict] = await chargeStore(store, [[{ key: 'a', policy: consecutive({ limit: 5 }), cost: 1 }]])
  await pool.end({ closing: [] })
  process.stdout.write(`${verdict?.allowed}\n`)
}

main()
