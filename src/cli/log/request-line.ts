import type { LocalTime } from './local-clock.js'

/** What a replay reads of a line. One object serves all lines: copy what has to last. */
export interface LoggedRequest {
  timeMs: number
  /** What clocks showed then, if the time named no zone. */
  local?: LocalTime | undefined
  /** The address of the connection as it was logged, which may be a proxy's; '' if it was not. */
  address: string
  /** What a proxy forwarded of the client's address, if it was logged: see `clientAddress`. */
  forwarded: string | undefined
  /** `undefined` if no user was signed in. */
  user: string | undefined
  method: string
  /** Without the query. '' if the line names none. */
  path: string
  /** The object of a JSON line. */
  fields: Readonly<Record<string, unknown>> | undefined
}

/**
 * Whether a line is a request, is none (such as a connection that sent no request line), or is unreadable.
 */
export type LineKind = 'request' | 'other' | 'unreadable'

/** Creates the object for `readAccessLine` and `readJsonLine` to fill. */
export function emptyRequest(): LoggedRequest {
  return {
    timeMs: 0,
    local: undefined,
    address: '',
    forwarded: undefined,
    user: undefined,
    method: '',
    path: '',
    fields: undefined,
  }
}

/**
 * Reads a request line, such as `GET /users?page=2 HTTP/1.1`, into a request. Returns whether it is one:
 * servers also log what was none, as `-` or as the bytes of a TLS handshake.
 */
export function readRequestLine(text: string, into: LoggedRequest): boolean {
  const methodEnd = text.indexOf(' ')
  if (methodEnd <= 0 || !isMethod(text, methodEnd)) return false
  const targetEnd = text.indexOf(' ', methodEnd + 1)
  into.method = text.slice(0, methodEnd)
  into.path = pathOf(text.slice(methodEnd + 1, targetEnd < 0 ? text.length : targetEnd))
  return into.path !== ''
}

/** Returns whether a text begins with a method: balancers write a dash where there was none. */
function isMethod(text: string, end: number): boolean {
  if (end === 1 && text.charCodeAt(0) === 45) return false
  for (let i = 0; i < end; i++) {
    const code = text.charCodeAt(i)
    const isLetter = (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
    if (!isLetter && code !== 45 && code !== 95) return false
  }
  return true
}

/** Returns the path of a request's target, without scheme, host and query. */
export function pathOf(target: string): string {
  const queryAt = target.indexOf('?')
  const bare = queryAt < 0 ? target : target.slice(0, queryAt)
  if (bare.charCodeAt(0) === 47) return bare
  const [, path] = /^https?:\/\/[^/]*(.*)$/is.exec(bare) ?? []
  return path === undefined ? bare : path || '/'
}
