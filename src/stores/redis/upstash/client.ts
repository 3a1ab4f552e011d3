import { wrongKind } from '../../../util/validate.js'
import { fieldsOf, hasMethods } from '../../../util/values.js'
import { messageOf } from '../../store-error.js'
import type { CommandWords } from '../command-transport.js'
import type { PostCommands } from './requests.js'

/** The public methods by which the store recognizes a `Redis` from `@upstash/redis` 1.34 or newer. */
export interface UpstashRedisClient {
  pipeline(): unknown
  multi(): unknown
}

/** The part of the client that sends requests. */
interface Requester {
  readonly retry: { readonly attempts: number }
  request(request: { readonly path: string[]; readonly body: readonly CommandWords[] }): Promise<unknown>
}

export function isUpstashRedis(value: unknown): value is UpstashRedisClient {
  return hasMethods(value, 'pipeline', 'multi')
}

/** Returns a function that sends commands through a client. Throws a `TypeError` if the client resends. */
export function postThrough(client: UpstashRedisClient): PostCommands {
  const requester = fieldsOf(client).client as Requester
  const attempts = fieldsOf(fieldsOf(requester).retry).attempts
  if (!hasMethods(requester, 'request') || typeof attempts !== 'number')
    throw wrongKind(
      'upstashStore',
      'client',
      'a Redis of @upstash/redis',
      client,
      'Write upstashStore({ url, token }).',
    )
  if (attempts !== 0)
    throw new TypeError(
      `upstashStore: the client's retries must be 0, got ${attempts}. Otherwise, a charge whose response is lost ` +
        'counts twice. Write new Redis({ url, token, retry: { retries: 0 } }), not retry: false, or ' +
        'upstashStore({ url, token }).',
    )
  return async (commands) => {
    try {
      return await requester.request({ path: ['pipeline'], body: commands })
    } catch (cause) {
      // The client adds the commands to the server's error.
      throw new Error(messageOf(cause).replace(/, command was: .*/s, ''), { cause })
    }
  }
}
