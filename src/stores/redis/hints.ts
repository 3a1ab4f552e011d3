import { type Fixes, fixIn, REPLY_FIXES } from './reply-hints.js'

/** The fixes for errors of connections, which drivers report. */
const CONNECTION_FIXES: Fixes = [
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
const TLS_FIXES: Fixes = [
  [
    /ECONNRESET|EPIPE|Socket closed unexpectedly|Connection is closed|alert (handshake failure|bad certificate)/,
    "If the server requires a client certificate, pass the client's tls.cert and tls.key.",
  ],
]

/** Returns the fix for an error of a server or a driver, if one is known. */
export function hintFor(message: string, hasTls = false): string | undefined {
  return fixIn([...(hasTls ? TLS_FIXES : []), ...REPLY_FIXES, ...CONNECTION_FIXES], message)
}
