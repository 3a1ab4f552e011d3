import { type Emitter, PortableEmitter } from './util/emitter.js'
import { sha1Bytes } from './util/sha1.js'
import { hmacSha256Bytes, sha256Bytes } from './util/sha256.js'

/** Globals that only some platforms have. */
interface Runtime {
  readonly process?: {
    readonly env?: Readonly<Record<string, string | undefined>>
    readonly versions?: { readonly node?: string }
    getBuiltinModule?(name: string): unknown
    emitWarning?(message: string, options: { readonly type: string; readonly code: string }): void
  }
  readonly Buffer?: typeof Buffer
  readonly Deno?: { readonly permissions?: { querySync?(permission: object): { readonly state: string } } }
  readonly Bun?: unknown
  readonly EdgeRuntime?: unknown
  readonly WebSocketPair?: unknown
}

const { process, Buffer: NodeBuffer, Deno, Bun, EdgeRuntime, WebSocketPair }: Runtime = globalThis

/**
 * Returns a Node.js module, or `undefined` if the platform lacks it. Deno and Bun have these modules. An
 * import would make bundlers for other platforms fail. The edge runtime of Next.js throws for anything it
 * lacks.
 */
/* @__NO_SIDE_EFFECTS__ */
export function builtin<Module>(name: `node:${string}`): Partial<Module> | undefined {
  try {
    return process?.getBuiltinModule?.(name) as Partial<Module> | undefined
  } catch {
    return undefined
  }
}

let isAssumed: boolean | undefined

/**
 * Returns whether this is an isolate. There, a promise, a timer or a reply belongs to the request that
 * started it, so requests must not wait for one another. Cloudflare Workers and the edge runtimes of Vercel
 * and Next.js are isolates. An unknown platform counts as one.
 */
export function isIsolate(): boolean {
  return isAssumed ?? IS_ISOLATE
}

/** Overrides what `isIsolate` returns, for tests. `undefined` ends the override. @internal */
export function assumeIsolate(isIsolate: boolean | undefined): void {
  isAssumed = isIsolate
}

/** Cloudflare's Node.js compatibility also has `process.versions`, so other globals are checked first. */
const IS_ISOLATE =
  WebSocketPair !== undefined ||
  EdgeRuntime !== undefined ||
  (process?.versions?.node === undefined && Deno === undefined && Bun === undefined)

const crypto = /* @__PURE__ */ builtin<typeof import('node:crypto')>('node:crypto')

/** Returns the SHA-256 of a text (in UTF-8) or of bytes, in base64url. */
export const sha256: (data: string | Uint8Array) => string = /* @__PURE__ */ makeSha256(crypto)

function makeSha256({ hash }: Partial<typeof import('node:crypto')> = {}): typeof sha256 {
  if (hash === undefined) return (data) => base64url(sha256Bytes(bytesOf(data)))
  return (data) => hash('sha256', data, 'base64url')
}

/** Returns the SHA-1 of a text, in hexadecimal. */
export function sha1(text: string): string {
  if (crypto?.createHash !== undefined) return crypto.createHash('sha1').update(text).digest('hex')
  return Array.from(sha1Bytes(bytesOf(text)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Creates the function that returns the HMAC-SHA-256 of a text under a secret (RFC 2104), in base64url. */
export function hmacSha256(secret: string): (text: string) => string {
  const createHmac = crypto?.createHmac
  if (createHmac !== undefined) return (text) => createHmac('sha256', secret).update(text).digest('base64url')
  const hmac = hmacSha256Bytes(bytesOf(secret))
  return (text) => base64url(hmac(bytesOf(text)))
}

/** Fills an array with random numbers. Do not call it while modules load: Workers then have none. */
export function fillRandom<Numbers extends Uint8Array | Int32Array>(numbers: Numbers): Numbers {
  const { webcrypto } = (crypto ?? {}) as { readonly webcrypto?: typeof globalThis.crypto }
  const source = webcrypto ?? globalThis.crypto
  source.getRandomValues(numbers as Uint8Array<ArrayBuffer>)
  return numbers
}

/** Returns random bytes as a text, in base64url. */
export function randomText(byteCount: number): string {
  return base64url(fillRandom(new Uint8Array(byteCount)))
}

/** Returns the bytes of a text in UTF-8. */
export function bytesOf(data: string | Uint8Array): Uint8Array {
  if (typeof data !== 'string') return data
  return NodeBuffer?.from(data) ?? new TextEncoder().encode(data)
}

/** Returns how many bytes a text has in UTF-8. */
export function byteLengthOf(text: string): number {
  return NodeBuffer?.byteLength(text) ?? bytesOf(text).length
}

/** Returns bytes as a text. Only its ASCII characters are reliable. */
export function asciiOf(bytes: Uint8Array): string {
  const { buffer, byteOffset, byteLength } = bytes
  const text = NodeBuffer?.from(buffer, byteOffset, byteLength).toString('latin1')
  return text ?? new TextDecoder('latin1').decode(bytes)
}

/** Returns a text whose characters are the bytes of another one in UTF-16, in little-endian order. */
export function utf16BytesOf(text: string): string {
  const bytes = NodeBuffer?.from(text, 'utf16le').toString('latin1')
  return bytes ?? Array.from({ length: text.length }, (_, i) => unitBytes(text.charCodeAt(i))).join('')
}

function unitBytes(unit: number): string {
  return String.fromCharCode(unit & 0xff, unit >> 8)
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replace(/[+/=]/g, (char) => URL_CHARACTERS[char] ?? '')
}

const URL_CHARACTERS: Readonly<Record<string, string>> = { '+': '-', '/': '_' }

/** Creates an event emitter: an `EventEmitter` of Node.js, if there is one. */
export function createEmitter<Events extends Record<keyof Events, unknown[]>>(): Emitter<Events> {
  const { EventEmitter = PortableEmitter } = builtin<typeof import('node:events')>('node:events') ?? {}
  return new EventEmitter() as unknown as Emitter<Events>
}

/** Returns the event that shows errors to listeners which do not handle them, on emitters of Node.js. */
export function errorMonitor(): symbol {
  return builtin<typeof import('node:events')>('node:events')?.errorMonitor ?? Symbol('no emitter of Node.js')
}

/** A channel of `node:diagnostics_channel`. Check `hasSubscribers` before you build a message. */
export interface Channel {
  readonly hasSubscribers: boolean
  publish(message: unknown): void
}

const SILENT: Channel = { hasSubscribers: false, publish() {} }

/** Returns the diagnostics channel of a name. If the platform has none, the channel has no subscribers. */
/* @__NO_SIDE_EFFECTS__ */
export function channel(name: string): Channel {
  const diagnostics = builtin<typeof import('node:diagnostics_channel')>('node:diagnostics_channel')
  return diagnostics?.channel?.(name) ?? SILENT
}

/**
 * Returns an environment variable. Returns `undefined` if it is missing, or if Deno would have to ask for
 * permission.
 */
export function environment(name: string): string | undefined {
  try {
    const state = Deno?.permissions?.querySync?.({ name: 'env', variable: name }).state
    return state === undefined || state === 'granted' ? process?.env?.[name] : undefined
  } catch {
    return undefined
  }
}

/** Returns a value as a text for messages. */
export function inspect(value: unknown): string {
  const text = builtin<typeof import('node:util')>('node:util')?.inspect?.(value, { depth: 4 })
  return text ?? (value instanceof Error ? String(value.stack) : (JSON.stringify(value) ?? String(value)))
}

/** Emits a process warning. Also logs it on isolates, which print no warnings, and if there are none. */
export function emitWarning(message: string, code: string): void {
  if (isIsolate() || process?.emitWarning === undefined) console.warn(`[${code}] ${message}`)
  try {
    process?.emitWarning?.(message, { type: 'HeadgateWarning', code })
  } catch {} // the edge runtime of Next.js throws
}
