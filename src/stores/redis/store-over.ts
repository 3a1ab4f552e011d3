import { remoteStore } from '../../pipe/remote-store.js'
import { applyBy } from '../shared/run-operations.js'
import type { Store } from '../store.js'
import { redisDocuments } from './documents.js'
import { runBatch } from './run-batch.js'
import type { Servers } from './servers.js'

/** Creates a store whose states are on some servers. `owner` names its factory in errors. */
export function storeOver(
  owner: string,
  servers: Servers,
  more: Pick<Store, 'defaultTimeoutMs'> = {},
): Store {
  const { name, client, transport, batching } = servers
  const { slotOf, serverOf } = transport
  return remoteStore({
    name,
    batching,
    apply: applyBy(owner, runBatch.bind(undefined, servers), batching),
    ...(serverOf && { serverOf: (key: string) => serverOf(slotOf(key)) }),
    origin: { client },
    documents: redisDocuments(servers),
    ...more,
  })
}
