import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * The headers of all responses: nothing is cached, framed, or loaded from elsewhere (OWASP HTTP Headers).
 */
const HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; " +
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
} as const

/** A request that cannot be carried out, with the status of the response. */
export class RequestError extends Error {
  constructor(
    readonly status: 400 | 403 | 404 | 405 | 409 | 413 | 415 | 503,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
    /** What the page needs besides the message. */
    readonly details: object = {},
  ) {
    super(message)
  }
}

/** Sets the headers that every response has. */
export function setSecurityHeaders(res: ServerResponse): void {
  for (const [name, value] of Object.entries(HEADERS)) res.setHeader(name, value)
}

/** Sends a whole response, without its body to a HEAD request. */
export function send(res: ServerResponse, status: number, type: string, content: string | Buffer): void {
  if (res.headersSent) return
  res.statusCode = status
  res.setHeader('Content-Type', type)
  res.setHeader('Content-Length', Buffer.byteLength(content))
  res.end(res.req.method === 'HEAD' ? undefined : content)
}

export function sendJson(res: ServerResponse, status: number, value: unknown): void {
  send(res, status, 'application/json', JSON.stringify(value))
}

export function sendError(res: ServerResponse, { status, message, headers, details }: RequestError): void {
  if (!res.headersSent) for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
  sendJson(res, status, { error: message, ...details })
}

/** Redirects to the same page with a slash at the end, from which its relative paths start. */
export function redirectToFolder(req: IncomingMessage, res: ServerResponse): void {
  const segment = sentPath(req).split('/').at(-1) ?? ''
  res.setHeader('Location', `./${segment}/`)
  send(res, 308, 'text/plain', '')
}

/** Returns the path that the client sent: Express and Connect cut off where a handler is mounted. */
export function sentPath(req: IncomingMessage & { readonly originalUrl?: string }): string {
  const { url = '/', originalUrl = url } = req
  const [path = ''] = originalUrl.split('?', 1)
  return path
}

/** Returns whether Express or Connect has cut off where the handler is mounted. */
export function isMounted(req: IncomingMessage): boolean {
  return 'originalUrl' in req
}
