import { isPromise } from '../../util/maybe-promise.js'
import { showKind, wrongUse } from '../../util/validate.js'

const OWNER = 'customRedisStore'
const FIX = 'Write send: (commands) => commands.map((words) => client.sendCommand(words)), without async.'

/**
 * Returns a promise of each reply, from what the `send` of a `customRedisStore` returned. Throws a
 * `TypeError` if that is not a list with one for each command.
 */
export function repliesIn(returned: unknown, commandCount: number): readonly Promise<unknown>[] {
  if (Array.isArray(returned) && returned.length === commandCount) return returned.map(replyIn)
  for (const each of [returned].flat()) Promise.resolve(each).catch(() => undefined) // nothing reads it
  const problem = `send must return a list with a promise for each command, got ${describe(returned)}`
  throw wrongUse(OWNER, Array.isArray(returned) ? `${problem} instead of ${commandCount}` : problem, FIX)
}

function describe(returned: unknown): string {
  if (isPromise(returned)) return 'a promise'
  return Array.isArray(returned) ? `a list of ${returned.length}` : showKind(returned)
}

/** Resolves with a reply, with its strings as text. Rejects for an error that a client resolves with. */
async function replyIn(pendingReply: unknown): Promise<unknown> {
  const reply = await pendingReply
  if (reply instanceof Error) throw reply
  return Array.isArray(reply) ? reply.map(asText) : asText(reply)
}

/** Returns text for bytes, such as a `Buffer`, and any other value as it is. */
function asText(value: unknown): unknown {
  return ArrayBuffer.isView(value) ? new TextDecoder().decode(value as Uint8Array) : value
}
