import type { Script } from './lua/script.js'
import type { Transport } from './transport.js'

/**
 * Creates a function that returns whether a script was loaded on the connection to a shard's server before, and
 * records that it is loaded now. Commands on a connection keep their order, so the server knows a script in all
 * commands behind the one that loads it.
 */
export function loadedScripts({ connectionTo }: Transport): (script: Script, shard: number) => boolean {
  const digests = new WeakMap<object, Set<string>>()
  return ({ sha1 }, shard) => {
    const connection = connectionTo(shard)
    const loaded = digests.get(connection)
    if (loaded?.has(sha1)) return true
    if (loaded === undefined) digests.set(connection, new Set([sha1]))
    else loaded.add(sha1)
    return false
  }
}
