/** Charges a key again and again, from many callers. Argument: the file. */
import { consecutive } from 'headgate'
import { denoKvStore } from 'headgate/deno-kv'
import { chargeForParent } from '../../support/charging-process.js'
import { openKv } from './open.js'

const store = denoKvStore(await openKv(process.argv[2]))
await chargeForParent(store, [{ key: 'killed', policy: consecutive({ limit: 1_000_000 }), cost: 1 }], 20)
