import {
  applyOperations,
  applyRefunds,
  decideCharges,
  type Result,
  type State,
  type StateWrite,
  type Store,
} from 'headgate'
import type { StoreConnection } from '../../../src/cli/keys/connection.js'

/** A store whose keys commands search: what they send, and what it has by then. */
export interface KeyStore extends StoreConnection {
  /** What limiters use. */
  readonly store: Store
  readonly states: Map<string, State>
  /** The patterns that were searched for, and the sizes of the groups that were forgotten. */
  readonly patterns: string[]
  readonly forgotten: number[]
  isClosed: boolean
}

/** How many keys a reply has. */
const PAGE = 2

/** Creates a store in a `Map`, which replies to SCAN as Redis does: in pages, in no order, and some keys twice. */
export function keyStore(): KeyStore {
  const states = new Map<string, State>()
  const read = (key: string) => states.get(key)
  const write = (writes: readonly StateWrite[]) => {
    for (const { key, state } of writes) {
      if (state === undefined) states.delete(key)
      else states.set(key, state)
    }
  }
  const store: Store & Required<Pick<Store, 'apply'>> = {
    name: 'keys',
    async charge(charges) {
      const { verdicts, writes } = decideCharges(charges, read, Date.now())
      write(writes)
      return verdicts
    },
    refund: async (refunds) => write(applyRefunds(refunds, read, Date.now())),
    forget: async (keys) => {
      for (const { key } of keys) states.delete(key)
    },
    renew: async () => Date.now(),
    async apply(operations) {
      const { results, writes } = applyOperations(operations, read, Date.now())
      write(writes)
      return results
    },
  }
  const patterns: string[] = []
  const forgotten: number[] = []

  async function scan(cursor: string, pattern: string): Promise<unknown> {
    if (cursor === '0') patterns.push(pattern)
    const keys = [...states.keys()].reverse()
    const at = Number(cursor)
    const next = at + PAGE >= keys.length ? 0 : at + PAGE
    return [String(next), keys.slice(Math.max(0, at - 1), at + PAGE)]
  }

  return {
    store,
    states,
    patterns,
    forgotten,
    isClosed: false,
    async send(...words) {
      const [command, cursor = '0', , pattern = ''] = words
      if (command === 'dbsize') return states.size
      if (command !== 'scan') throw new Error(`unknown command ${command}`)
      return scan(cursor, pattern)
    },
    async forget(keys) {
      forgotten.push(keys.length)
      await store.forget(keys)
    },
    async change(operation) {
      const [result] = await store.apply([operation])
      return result as Result
    },
    close() {
      this.isClosed = true
    },
  }
}
