import { createDeadline, createDeadlines, TimeoutError } from '../../../util/timeout.js'
import { messageOf, StoreError } from '../../store-error.js'
import type { CommandWords } from '../command-transport.js'

/** Sends commands in one request. Resolves with the body of the response, parsed from JSON. */
export type PostCommands = (commands: readonly CommandWords[]) => Promise<unknown>

/** The longest time that a limiter waits. A request that takes longer would only use resources. */
const LONGEST_REQUEST_MS = 60_000

/**
 * Returns a function that sends commands to the REST API of a database. It sends each request once. Its
 * errors say whether the outcome is known. https://upstash.com/docs/redis/features/restapi
 */
export function postTo(url: string, token: string): PostCommands {
  const target = `${url.replace(/\/+$/, '')}/pipeline`
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const deadlines = createDeadlines(LONGEST_REQUEST_MS)

  async function post(commands: readonly CommandWords[], signal: AbortSignal): Promise<unknown> {
    let response: Response
    try {
      response = await fetch(target, { method: 'POST', headers, body: JSON.stringify(commands), signal })
    } catch (cause) {
      throw networkError(cause)
    }
    const { status } = response
    let text: string
    try {
      text = await response.text()
    } catch (cause) {
      throw new StoreError('upstash', `the response broke off: ${messageOf(cause)}`, { cause })
    }
    const body = fromJson(text)
    if (response.ok && body !== undefined) return body
    throw responseError(status, text, body)
  }

  return async (commands) => {
    const controller = new AbortController()
    // AbortSignal.timeout would leave its timer behind, and Workers have at most 10,000 timers.
    const deadline = createDeadline(() => controller.abort(new TimeoutError(LONGEST_REQUEST_MS)))
    deadlines.start(deadline)
    try {
      return await post(commands, controller.signal)
    } finally {
      deadlines.stop(deadline)
    }
  }
}

/** The errors of Node.js, Bun and Deno if there was no connection. */
const NOT_CONNECTED =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused|FailedToOpenSocket|dns error|tcp connect error/

function networkError(cause: unknown): StoreError {
  const reason = (cause as { readonly cause?: unknown } | undefined)?.cause ?? cause // fetch hides it in `cause`
  const { code }: { readonly code?: unknown } = reason ?? {}
  const text = [code, messageOf(reason)].filter((each) => typeof each === 'string').join(' ')
  const unsent = NOT_CONNECTED.test(text)
  const hint = unsent ? '. Check the url.' : ''
  return new StoreError('upstash', `no response from the server: ${messageOf(reason)}${hint}`, {
    cause,
    unsent,
  })
}

/** Returns the error for a response without results. With a status from 400 to 499, no command has run. */
function responseError(status: number, text: string, body: unknown): StoreError {
  const { error }: { readonly error?: unknown } = body ?? {}
  const shown = typeof error === 'string' ? error : JSON.stringify(text.slice(0, 80))
  const hint =
    typeof error === 'string' ? hintFor(status, error) : 'Check that the url is that of the REST API.'
  const message = `the server responded with status ${status} and ${shown.replace(/\.$/, '')}`
  return new StoreError('upstash', hint === undefined ? message : `${message}. ${hint}`, {
    cause: text,
    replied: status >= 400 && status < 500,
  })
}

/** Parses JSON. Returns `undefined` if it is not valid. */
function fromJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the fix for an error of Upstash, if one is known. */
export function hintFor(status: number | undefined, error: string): string | undefined {
  if (status === 401 || /^WRONGPASS |unauthorized/i.test(error))
    return 'Correct the token. Pass the UPSTASH_REDIS_REST_TOKEN of this database.'
  if (/^NOPERM /.test(error)) return 'Use the standard token, not the read-only one.'
  if (/^ERR max .*limit exceeded/i.test(error))
    return 'The database has reached a limit of its plan. Upgrade the plan in the Upstash console.'
  return undefined
}
