import { readOptions } from '../../../options/option-table.js'
import { wrongKind } from '../../../util/validate.js'
import type { Store } from '../../store.js'
import { StoreError } from '../../store-error.js'
import { type CommandWords, commandTransport } from '../command-transport.js'
import { replyHint } from '../reply-hints.js'
import { serversOver } from '../servers.js'
import { storeOver } from '../store-over.js'
import { textReplies } from '../text-replies.js'
import { isUpstashRedis, postThrough, type UpstashRedisClient } from './client.js'
import { hintFor, type PostCommands, postTo } from './requests.js'

/** Options of `upstashStore`. The Upstash console shows both values. */
export interface UpstashStoreOptions {
  /** The URL of the REST API, `UPSTASH_REDIS_REST_URL`, such as `'https://eu1-name-12345.upstash.io'`. */
  readonly url: string | undefined
  /** The standard token, `UPSTASH_REDIS_REST_TOKEN`. The read-only token is not enough. */
  readonly token: string | undefined
}

/** This is a function because bundlers keep constants that call functions, even unused ones. */
const optionTable = () => ({
  rows: {
    url: requiredText(/^https?:\/\/[^\s/]/, 'an https:// URL', 'UPSTASH_REDIS_REST_URL'),
    token: requiredText(/^[!-~]+$/, 'a token', 'UPSTASH_REDIS_REST_TOKEN'),
  },
})

/** Creates a row for a text. Its error names the environment variable that Upstash's console shows. */
const requiredText = (pattern: RegExp, must: string, variable: string) => {
  return (owner: string, option: string, value: unknown): string => {
    if (typeof value === 'string' && pattern.test(value)) return value
    const fix = `Pass the ${variable} of the database, from the Upstash console.`
    throw wrongKind(owner, option, must, value, fix) // shows no value, because the URL may be a token by mistake
  }
}

/**
 * Upstash locks all keys while a script runs, unless the script states that it uses only declared keys.
 * https://upstash.com/docs/redis/features/key-locking
 */
const REPLIES = /* @__PURE__ */ textReplies('#!lua flags=allow-key-locking\n')

/** Each request takes milliseconds, so several are in flight at once. They may overtake one another. */
const BATCHING = { maxInFlight: 4 }

/**
 * Creates a store that keeps states in Upstash Redis. It calls the REST API with `fetch`, so it also runs in
 * runtimes without sockets.
 *
 * - **Atomicity.** A Lua script decides all operations of one shape that arrive together. A batch of
 *   operations is one HTTP request.
 * - **Resends.** If a response is lost, the outcome is unknown, and the request is not sent again. Only a
 *   script that the server does not know is sent again, because it did not run.
 * - **Clock.** The server's.
 * - **Client.** Instead of a URL and a token, you can pass a `Redis` from `@upstash/redis` whose `retry` is
 *   `{ retries: 0 }`. A client that resends requests would count a charge twice if its response is lost.
 *
 * Throws a `TypeError` for wrong options, and for a client that resends requests.
 *
 * @example
 * ```ts
 * import { rateLimit } from 'headgate/hono'
 * import { upstashStore } from 'headgate/upstash'
 *
 * const { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token } = process.env
 * const store = upstashStore({ url, token })
 * const api = rateLimit({ name: 'api', limit: 100, window: '1m', store, key: () => 'all' })
 * ```
 */
export function upstashStore(options: UpstashStoreOptions | UpstashRedisClient): Store {
  const post = isUpstashRedis(options) ? postThrough(options) : postBy(options)
  const transport = commandTransport((commands) => sendBy(post, commands), {
    batching: BATCHING,
    textReplies: REPLIES,
  })
  return storeOver('upstashStore', serversOver('upstash', options, transport, replyHint), {
    defaultTimeoutMs: 1000,
  })
}

function postBy(options: UpstashStoreOptions): PostCommands {
  const { url, token } = readOptions('upstashStore', options, optionTable())
  return postTo(url, token)
}

/** Sends commands in one request. Returns a promise of each result. */
function sendBy(post: PostCommands, commands: readonly CommandWords[]): readonly Promise<unknown>[] {
  const body = post(commands)
  return commands.map(async (_, i) => resultAt(await body, i, commands.length))
}

/** Returns a result from the body of a response. Throws if it is an error. */
function resultAt(body: unknown, i: number, count: number): unknown {
  if (!Array.isArray(body) || body.length !== count)
    throw new StoreError('upstash', `the response must have ${count} results`, { cause: body })
  const { result, error }: { readonly result?: unknown; readonly error?: unknown } = body[i] ?? {}
  if (typeof error !== 'string') return result
  const hint = hintFor(undefined, error)
  throw hint === undefined
    ? new Error(error)
    : new StoreError('upstash', `${error} ${hint}`, { replied: true })
}
