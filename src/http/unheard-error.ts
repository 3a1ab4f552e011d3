import type { IncomingMessage, ServerResponse } from 'node:http'
import { messageOf } from '../stores/store-error.js'
import { warnOnce } from '../util/warn-once.js'
import type { Next } from './options.js'
import { isPlaceholder } from './placeholder.js'
import { NO_STORE } from './quota-headers.js'
import { nodeWriter } from './response-writer.js'

/** Matches strings and comments, in which `arguments` and parentheses mean nothing. */
const STRING_OR_COMMENT = /(['"`])(?:\\[\s\S]|(?!\1)[^\\])*\1|\/\*[\s\S]*?\*\/|\/\/.*/g
/**
 * Matches a function whose first parameter is a rest parameter or has a default: `length` counts neither.
 */
const UNCOUNTED_PARAMETER = /^[^([]*\(\s*(?:\.{3}|[^)]*=)/
/** Matches an arrow function without parameters. Its `arguments`, if any, are those of an outer function. */
const EMPTY_ARROW = /^(?:async\s*)?\(\s*\)\s*=>/

/** Returns a `next` that responds to an error if the callback cannot see it. */
export function hearErrors(owner: string, req: IncomingMessage, res: ServerResponse, next: Next): Next {
  return (error) => {
    if (error === undefined) next()
    else if (takesNoError(next)) failUnheard(owner, req, res, error)
    else next(error)
  }
}

/**
 * Returns whether a callback cannot see an error, such as `() => res.end('hello')`. Wrappers, such as those
 * of tracing agents, also have no parameters, but pass on their `arguments`.
 */
function takesNoError(next: Next): boolean {
  if (next.length > 0) return false
  const code = Function.prototype.toString.call(next).replace(STRING_OR_COMMENT, '')
  return EMPTY_ARROW.test(code) || !(/\barguments\b/.test(code) || UNCOUNTED_PARAMETER.test(code))
}

/**
 * Responds with 500 in place of a callback that would let the request pass in spite of an error. Closes the
 * connection if there is no response.
 */
function failUnheard(owner: string, req: IncomingMessage, res: ServerResponse, error: unknown): void {
  const outcome = isPlaceholder(res) ? 'its connection was closed' : 'the response was 500'
  warnOnce(
    'HEADGATE_ERROR_UNHEARD',
    `headgate: ${owner} failed (${messageOf(error)}), and its callback takes no argument, so ${outcome}. ` +
      'Write (error) => … and respond to the error.',
  )
  if (isPlaceholder(res)) req.socket.destroy()
  else if (nodeWriter.areHeadersSent(res)) nodeWriter.abort(res)
  else {
    const contentType = 'text/plain; charset=utf-8'
    nodeWriter.send(res, { status: 500, headers: NO_STORE, contentType, body: 'Internal server error.\n' })
  }
}
