import { memoryStore, type Store } from 'headgate'
import {
  applyOperations,
  customStore,
  type Documents,
  type Operation,
  type ResultOf,
  type State,
  type StateWrite,
} from 'headgate/store'
import type { StoreConnection } from '../../../src/cli/keys/connection.js'
import { readPublishedLimits } from '../../../src/pipe/published-limits.js'
import { encodeState } from '../../../src/stores/shared/state-bytes.js'

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

/**
 * Creates a store in a `Map`, which replies to SCAN as Redis does: in pages, in no order, and some keys
 * twice.
 */
export function keyStore(): KeyStore {
  const states = new Map<string, State>()
  const read = (key: string) => states.get(key)
  const write = (writes: readonly StateWrite[]) => {
    for (const { key, state } of writes) {
      if (state === undefined) states.delete(key)
      else states.set(key, state)
    }
  }
  async function apply(operations: readonly Operation[]) {
    const { outcomes, writes } = applyOperations(operations, read, Date.now())
    write(writes)
    return outcomes
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

  const documents = memoryStore().documents as Documents

  return {
    store: customStore({ name: 'keys', apply, documents }),
    documents,
    states,
    patterns,
    forgotten,
    isClosed: false,
    async send(...words) {
      const [command, cursor = '0', , pattern = ''] = words
      if (command === 'dbsize') return states.size
      if (command === 'pttl') return -1
      if (command !== 'scan') throw new Error(`unknown command ${command}`)
      return scan(cursor, pattern)
    },
    async readBytes(key) {
      const state = states.get(key)
      return { bytes: state && encodeState([Number.POSITIVE_INFINITY, ...state]), atMs: Date.now() }
    },
    readLimits: (key) => readPublishedLimits(documents, key),
    async apply(operations) {
      if (operations.every(({ type }) => type === 'forget')) forgotten.push(operations.length)
      await apply(operations)
    },
    async applyOne<O extends Operation>(operation: O) {
      const [result] = await apply([operation])
      return result as ResultOf<O>
    },
    close() {
      this.isClosed = true
    },
  }
}
