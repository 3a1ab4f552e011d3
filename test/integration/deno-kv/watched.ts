import type { DenoKv, KvAtomic } from '../../../src/stores/deno-kv/client.js'

/** A KV that counts its calls, and whose commits `commit` may change. */
export function watched(kv: DenoKv, commit = (atomic: KvAtomic) => atomic.commit()) {
  const calls = { reads: 0, commits: 0 }
  const through: DenoKv = {
    get(key) {
      calls.reads++
      return kv.get(key)
    },
    getMany(keys) {
      calls.reads++
      return kv.getMany(keys)
    },
    atomic() {
      const atomic = kv.atomic()
      return {
        check: (check) => atomic.check(check),
        set: (key, value, options) => atomic.set(key, value, options),
        delete: (key) => atomic.delete(key),
        commit() {
          calls.commits++
          return commit(atomic)
        },
      }
    },
  }
  return { kv: through, calls }
}
