/** The operator's fix for an error, by its text. */
export type Fixes = readonly (readonly [RegExp, string])[]

/** The fixes for error replies of a server. */
export const REPLY_FIXES: Fixes = [
  [/^READONLY /, 'Connect to the master: this server is a replica, and takes no writes.'],
  [/^(MOVED|ASK) \d|\bCROSSSLOT\b/, 'Use a Cluster client: this server is one node of a Redis Cluster.'],
  [
    /^(NOAUTH |.*HELLO must be called with)/, // node-redis also sends commands after a wrong password
    'Give the client a password, or correct the one that it has: redis://:password@host.',
  ],
  [
    /^WRONGPASS |^ERR (AUTH|invalid password)|^ERR Client sent AUTH/,
    "Correct the client's user and password.",
  ],
  [/^NOPERM /, "Allow the client's user the commands and keys that the docs on Redis list under ACL."],
  [/^WRONGTYPE /, 'Delete the key, or use another prefix: another program uses this one.'],
  [/^LOADING /, 'The server is loading its data from disk. It decides once that is done.'],
  [/^OOM /, 'Raise maxmemory, or set a maxmemory-policy that evicts.'],
  [/^MISCONF /, 'The server cannot save to disk. Free some space, or see its log.'],
  [/^NOREPLICAS /, 'Connect the replicas that min-replicas-to-write requires.'],
  [/^BUSY /, 'The server runs a long script of another client. SCRIPT KILL ends it.'],
  [/^CLUSTERDOWN /, 'The Cluster has slots without a master. CLUSTER INFO lists how many.'],
  [/^MASTERDOWN /, 'Connect to the master: this server is a replica that has lost it.'],
  [/^TRYAGAIN /, 'The slot is moving to another node, and works again once it has moved.'],
  [/^ERR unknown command|^NOSCRIPT /i, 'Enable EVAL and EVALSHA on the server, and do not rename them.'],
]

/** Returns the fix for an error reply, if one is known. */
export function replyHint(message: string): string | undefined {
  return fixIn(REPLY_FIXES, message)
}

export function fixIn(fixes: Fixes, message: string): string | undefined {
  return fixes.find(([pattern]) => pattern.test(message))?.[1]
}
