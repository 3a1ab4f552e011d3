import { hasMethods, isObject } from '../../util/values.js'
import { messageOf, StoreError } from '../store-error.js'
import { commandTransport } from './command-transport.js'
import type { Transport } from './transport.js'

/** The `Decoder.Bytes` of Valkey GLIDE. */
const BYTES = 0

/**
 * What the store needs of a `GlideClient` or `GlideClusterClient` of Valkey GLIDE 2
 * (https://github.com/valkey-io/valkey-glide).
 */
export interface GlideRedisClient {
  /** Sends any command. With `decoder`, strings in the reply are buffers. */
  customCommand(words: string[], options: { readonly decoder: typeof BYTES }): Promise<unknown>
  invokeScript(...args: never): Promise<unknown>
}

export function isGlide(value: unknown): value is GlideRedisClient {
  return isObject(value) && hasMethods(value, 'customCommand', 'invokeScript')
}

/** Creates the transport to one server or to a Cluster. GLIDE never sends a command again. */
export function glideTransport(client: GlideRedisClient): Transport {
  const scripts = new Set<string>()
  const send = (words: readonly string[]) =>
    client.customCommand([...words], { decoder: BYTES }).catch((cause: unknown) => {
      throw NOT_SENT.test(messageOf(cause)) ? notSent(cause) : withCode(cause)
    })
  return commandTransport((commands) => commands.map(send), {
    hasSlots: hasMethods(client, 'fcallWithRoute'), // a Cluster client's method
    scriptsOn: () => scripts,
  })
}

/** The error of GLIDE 2.5 for a command that it did not send, because too many others are in flight. */
const NOT_SENT = /^Reached maximum inflight requests/

function notSent(cause: unknown): StoreError {
  const fix = "Raise the client's inflightRequestsLimit, which is 1,000 by default."
  return new StoreError('redis', `${messageOf(cause)}. ${fix}`, { unsent: true, cause })
}

/** GLIDE's names for some error replies. Other replies keep their code. */
const CODES: Readonly<Record<string, string>> = {
  Ask: 'ASK',
  BusyLoadingError: 'LOADING',
  ClusterDown: 'CLUSTERDOWN',
  CrossSlot: 'CROSSSLOT',
  MasterDown: 'MASTERDOWN',
  Moved: 'MOVED',
  NoScriptError: 'NOSCRIPT',
  PermissionDenied: 'NOPERM',
  ReadOnly: 'READONLY',
  ResponseError: 'ERR',
  TryAgain: 'TRYAGAIN',
}

/** Returns an error whose message begins with the code of the reply, as in Redis. Keeps any other error. */
function withCode(cause: unknown): unknown {
  const [, name = '', text] =
    /^(?:An error was signalled by the server: - )?(\w+): (.*)/s.exec(messageOf(cause)) ?? []
  const code = CODES[name] ?? (/^[A-Z]+$/.test(name) ? name : undefined)
  return code === undefined ? cause : new Error(`${code} ${text}`, { cause })
}
