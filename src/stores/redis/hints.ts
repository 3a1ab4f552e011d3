/** The operator's fix for an error of a server or a driver, by its text. */
const FIXES: readonly (readonly [RegExp, string])[] = [
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
  [
    /alert certificate required/,
    "The server requires a client certificate: pass the client's tls.cert and tls.key.",
  ],
  [
    /alert .*protocol version|unsupported protocol/,
    'The client and the server allow no common version of TLS.',
  ],
  [
    /^(?!.*SSL alert).*(certificate|altnames)/is,
    "Trust the server's certificate: pass its CA as the client's tls.ca.",
  ],
  [
    /wrong version number|packet length too long/i,
    'The server does not use TLS on this port. Use a redis:// URL.',
  ],
  [
    /ECONNRESET|Socket closed unexpectedly|Protocol error/,
    'If the server uses TLS on this port, use a rediss:// URL.',
  ],
  [/ECONNREFUSED|ENOTFOUND|EAI_AGAIN/, "Check that Redis runs at the client's URL."],
  [
    /ETIMEDOUT|Connection timeout/,
    "Check that Redis runs at the client's URL. If it does not use TLS there, use a redis:// URL.",
  ],
]

/** The fixes for clients with TLS that differ from those above. */
const TLS_FIXES: typeof FIXES = [
  [
    /ECONNRESET|EPIPE|Socket closed unexpectedly|Connection is closed|alert (handshake failure|bad certificate)/,
    "If the server requires a client certificate, pass the client's tls.cert and tls.key.",
  ],
]

/** Returns the fix for an error, if one is known. */
export function hintFor(message: string, hasTls = false): string | undefined {
  return (hasTls ? [...TLS_FIXES, ...FIXES] : FIXES).find(([pattern]) => pattern.test(message))?.[1]
}
