import { asStoreError, atServer, messageOf, StoreError } from '../store-error.js'
import { hasTls } from './connecting.js'
import { hintFor } from './hints.js'
import { replyHint } from './reply-hints.js'

/** Returns the fix for the text of an error, if one is known. */
export type HintOf = (message: string) => string | undefined

/*
 * What an error says of the server and of the command. Redis begins an error reply with its code, in
 * capitals: https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors. No error of a driver
 * begins like that.
 *
 * | reply                                                   | the server is | then                          |
 * |---------------------------------------------------------|---------------|-------------------------------|
 * | NOSCRIPT                                                | up            | sent once more, with the text |
 * | MOVED, ASK                                              | up            | the driver follows them       |
 * | CROSSSLOT to a client for one server                    | up            | sent again, slot by slot      |
 * | TRYAGAIN; of node-redis also too many redirections      | up            | sent again, for 0.1 s at most |
 * | any other, such as LOADING, BUSY, READONLY, CLUSTERDOWN | up            | fails at once                 |
 * | none: refused, lost, timed out                          | down          | fails at once                 |
 */

/** A reply that rejects a command. Drivers that give up on redirections quote the last one. */
const ERROR_REPLY = /^[A-Z]+ |^Too many Cluster redirections.*\b(MOVED|ASK|TRYAGAIN|CLUSTERDOWN) /

/**
 * Replies to a call for several keys whose slot is migrating: each key may be on either node. Clients give
 * up on redirections with their own error, with or without the last reply, or with that reply.
 */
const MIGRATING =
  /^(TRYAGAIN|MOVED|ASK|Too many Cluster redirections($|\. Last error: .*\b(MOVED|ASK|TRYAGAIN)\b))/

/**
 * Returns the error of a command; `replied` if a server has replied, since then it has done nothing. `hintOf`
 * returns the fix for its text.
 */
export function commandError(
  store: string,
  cause: unknown,
  server?: string,
  hintOf: HintOf = replyHint,
): StoreError {
  const message = messageOf(cause)
  const hint = server === undefined || !isRedirection(message) ? hintOf(message) : undefined
  return atServer(asStoreError(store, cause, { replied: ERROR_REPLY.test(message), hint }), server)
}

/** Returns whether a Cluster client follows this reply by itself. */
function isRedirection(message: string): boolean {
  return /^(MOVED|ASK) /.test(message)
}

/** Returns the error of a command that is not sent while the client is disconnected, and why it is. */
export function disconnectedError(status: string, reason: unknown, client: object): StoreError {
  return connectionError(`the client is not connected (${status})`, reason, client, { unsent: true })
}

/** Returns the error of a command whose connection was lost, and why it was. */
export function lossError(client: object, reason?: unknown): StoreError {
  return connectionError('the connection was lost before the reply arrived', reason, client)
}

function connectionError(
  problem: string,
  cause: unknown,
  client: object,
  facts: { readonly unsent?: boolean } = {},
): StoreError {
  if (cause === undefined || cause instanceof StoreError)
    return new StoreError('redis', problem, { ...facts, cause })
  const reason = messageOf(cause)
  const text = [reason.replace(/\.$/, ''), hintFor(reason, hasTls(client)) ?? []].flat().join('. ')
  return new StoreError('redis', `${problem}: ${text}`, { ...facts, cause })
}

/** Whether the server does not know the script (after a restart, a failover or SCRIPT FLUSH). */
export function isUnknownScript(error: unknown): boolean {
  return messageOf(error).startsWith('NOSCRIPT')
}

/** Whether the keys of a command may be on two nodes, so that no node has run it. */
export function isSplit(error: unknown): boolean {
  return MIGRATING.test(messageOf(error))
}

/**
 * Returns whether the server has slots, and the keys of a call are in several. A server checks that before a
 * script runs. Behind a proxy, the script may begin, and fail at its first command, before any write.
 * Alibaba Cloud's proxy has its own text.
 */
export function isCrossSlot(error: unknown): boolean {
  return /\bCROSSSLOT\b|keys must (be )?in (the )?same slot/.test(messageOf(error))
}

/** Whether the same command may succeed in some milliseconds: its keys are moving to another node. */
export function isMoving(error: unknown): boolean {
  return /^(TRYAGAIN|Too many Cluster redirections$)/.test(messageOf(error)) // the latter is node-redis's
}
