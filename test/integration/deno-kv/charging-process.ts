/** Charges a key again and again, from many callers. Arguments: the file, and `lossy` if replies are to be lost. */
import { consecutive } from 'headgate'
import { denoKvStore } from 'headgate/deno-kv'
import type { KvAtomic } from '../../../src/stores/deno-kv/client.js'
import { chargeForParent } from '../../support/charging-process.js'
import { openKv } from './open.js'
import { watched } from './watched.js'

let commits = 0

/** Loses replies and requests in turn, and sends some commits twice, as Deno does if a reply is lost. */
async function commitOrLose(atomic: KvAtomic) {
  const turn = commits++ % 9
  if (turn === 2) throw new Error('the request was lost')
  const result = await atomic.commit()
  if (turn === 5) throw new Error('the reply was lost')
  return turn === 8 ? atomic.commit() : result
}

const [path, how] = process.argv.slice(2)
const kv = await openKv(path)
const store = denoKvStore(how === 'lossy' ? watched(kv, commitOrLose).kv : kv)
await chargeForParent(store, [{ key: 'charged', policy: consecutive({ limit: 1_000_000 }), cost: 1 }], 20)
kv.close()
