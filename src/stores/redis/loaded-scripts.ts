import { weakMemo } from '../../util/memo.js'
import type { Script } from './lua/script.js'
import type { Transport } from './transport.js'

/** Returns the digests of the scripts that were loaded on a connection. Stores that share a client share them. */
const digestsOn = weakMemo((_connection: object) => new Set<string>())

/**
 * Creates a function that returns whether a script was loaded on the connection to a shard's server before, and
 * records that it is loaded now. Commands on a connection keep their order, so the server knows a script in all
 * commands behind the one that loads it.
 */
export function loadedScripts({ connectionTo }: Transport): (script: Script, shard: number) => boolean {
  return ({ sha1 }, shard) => {
    const digests = digestsOn(connectionTo(shard))
    if (digests.has(sha1)) return true
    digests.add(sha1)
    return false
  }
}
