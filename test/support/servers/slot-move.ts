import type { ClusterNode } from './cluster-state.js'
import { redisReply } from './redis-command.js'

const MIGRATE_TIMEOUT_MS = 5000

/** A slot on its way from one master to another. */
export interface SlotMove {
  readonly from: ClusterNode
  readonly to: ClusterNode
  /** Moves the keys that the slot has now. The old master then answers ASK for them. */
  migrateKeys(): Promise<void>
  /** Hands the slot over. All its keys must have been moved before. */
  finish(): Promise<void>
}

export async function startSlotMove(
  slot: number,
  from: ClusterNode,
  to: ClusterNode,
  masters: readonly ClusterNode[],
): Promise<SlotMove> {
  if (from === to) throw new Error(`Slot ${slot} is on port ${to.port} already.`)
  await to.cli('CLUSTER', 'SETSLOT', slot, 'IMPORTING', from.id)
  await from.cli('CLUSTER', 'SETSLOT', slot, 'MIGRATING', to.id)
  return {
    from,
    to,
    async migrateKeys() {
      for (;;) {
        const keys = (await redisReply(from.url, ['CLUSTER', 'GETKEYSINSLOT', slot, 100])) as string[]
        if (keys.length === 0) return
        await from.cli('MIGRATE', to.host, to.port, '', 0, MIGRATE_TIMEOUT_MS, 'KEYS', ...keys)
      }
    },
    async finish() {
      const others = masters.filter((node) => node !== to && node !== from)
      for (const node of [to, from, ...others]) await node.cli('CLUSTER', 'SETSLOT', slot, 'NODE', to.id)
    },
  }
}
