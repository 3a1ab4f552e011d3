import type { Script } from './lua/prelude.js'
import type { Transport } from './transport.js'

/**
 * Creates a function that returns whether the text of a script was sent to the server of a shard before, and
 * records that it is sent now. Once a server has the text, it knows the digest in the commands that follow
 * on the connection. Otherwise, each command of a first burst by slot would fail with NOSCRIPT, and be sent
 * again.
 */
export function sentScripts(serverOf: Transport['serverOf']): (script: Script, shard: number) => boolean {
  const digestsByServer = new Map<string | undefined, Set<string>>()
  return ({ sha1 }, shard) => {
    const server = serverOf?.(shard)
    const digests = digestsByServer.get(server)
    if (digests?.has(sha1)) return true
    if (digests === undefined) digestsByServer.set(server, new Set([sha1]))
    else digests.add(sha1)
    return false
  }
}
