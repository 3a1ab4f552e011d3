/** Charges a key from many callers, and tells its parent how often that was allowed. Argument: the file. */
import { consecutive } from 'headgate'
import { denoKvStore } from 'headgate/deno-kv'
import { chargeStore } from '../../support/store-calls.js'
import { openKv } from './open.js'

const kv = await openKv(process.argv[2])
const store = denoKvStore(kv)
const charge = [{ key: 'killed', policy: consecutive({ limit: 1_000_000 }), cost: 1 }]
let sent = 0
let allowed = 0

async function call(): Promise<never> {
  for (;;) {
    sent++
    const [verdict] = await chargeStore(store, [charge])
    if (verdict?.allowed) allowed++
    process.send?.({ sent, allowed })
  }
}
await Promise.all(Array.from({ length: 20 }, call))
