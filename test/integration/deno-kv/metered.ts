import { serialize } from 'node:v8'
import type { DenoKv, KvAtomic, KvEntry } from '../../../src/stores/deno-kv/client.js'

/** What Deno Deploy bills. */
export interface Units {
  readonly readUnits: number
  readonly writeUnits: number
}

/** A KV, and the units that it has taken: one for each 4 KB read, and one for each 1 KB that a commit sends. */
export interface MeteredKv extends DenoKv {
  readonly units: Units
  /** What happens once, right before the next commit. */
  beforeCommit: (() => Promise<unknown>) | undefined
}

const KB = 1024

/** How many units of a size a value takes. Deno stores it as V8 serializes it. */
const unitsOf = (value: unknown, size: number) => Math.max(1, Math.ceil(serialize(value).byteLength / size))

/** V8 serializes arrays that it has read as if they had holes. */
function asWritten(value: unknown): unknown {
  const { state = [], commits = [], ...rest } = (value ?? {}) as { state?: number[]; commits?: number[] }
  return { state: state.map((each) => each), commits: commits.map((each) => each), ...rest }
}

export function metered(kv: DenoKv): MeteredKv {
  const units = { readUnits: 0, writeUnits: 0 }
  function counted(entry: KvEntry): KvEntry {
    units.readUnits += unitsOf(asWritten(entry.value), 4 * KB)
    return entry
  }
  function atomic(): KvAtomic {
    const inner = kv.atomic()
    return {
      check: (check) => inner.check(check),
      set(key, value, options) {
        units.writeUnits += unitsOf(value, KB)
        return inner.set(key, value, options)
      },
      delete(key) {
        units.writeUnits++
        return inner.delete(key)
      },
      async commit() {
        const before = through.beforeCommit
        through.beforeCommit = undefined
        await before?.()
        return inner.commit()
      },
    }
  }
  const through: MeteredKv = {
    units,
    beforeCommit: undefined,
    get: async (key) => counted(await kv.get(key)),
    getMany: async (keys) => (await kv.getMany(keys)).map(counted),
    atomic,
  }
  return through
}
