import type { Documents, StoredDocument } from '../documents.js'
import { textVersion } from '../shared/text-version.js'
import { asStoreError, messageOf, type StoreError } from '../store-error.js'
import type { Servers } from './servers.js'
import type { Command } from './transport.js'

/** What is read of a value of another type, such as a string that an operator has set. */
const OTHER_TYPE: StoredDocument = { version: 'WRONGTYPE', damage: 'a value of another Redis type' }

/**
 * Replaces a document, a hash of `version` and `text`, without an expiry.
 *
 * KEYS[1]: the document. ARGV[1]: the version that it must have, or '' if it must not exist. ARGV[2],
 * ARGV[3]: the new version and text. Returns 1 if it was replaced, and 0 otherwise.
 */
const REPLACE = `
local version = redis.pcall('hget', KEYS[1], 'version') or ''
if type(version) == 'table' then
  if not string.find(version.err, '^WRONGTYPE') then return version end
  version = '${OTHER_TYPE.version}'
end
if version ~= ARGV[1] then return 0 end
if version == '${OTHER_TYPE.version}' then redis.call('del', KEYS[1]) end
redis.call('hset', KEYS[1], 'version', ARGV[2], 'text', ARGV[3])
return 1`

/** Keeps each document in a hash, so that a reader can fetch the version without the text. */
export function redisDocuments(servers: Servers): Documents {
  const { slotOf, send } = servers.transport

  async function run(firstKey: number, ...commands: readonly Command['words'][]): Promise<unknown[]> {
    const toSend = commands.map((words): Command => {
      return { shard: slotOf(words[firstKey] ?? ''), words, firstKey, keyCount: 1 }
    })
    try {
      return await Promise.all(send(toSend).map(orOtherType))
    } catch (cause) {
      throw documentError(servers, cause)
    }
  }

  async function readText(key: string): Promise<StoredDocument | undefined> {
    const [reply] = await run(1, ['hmget', key, 'version', 'text'])
    if (reply === OTHER_TYPE) return OTHER_TYPE
    const [version, text] = textsIn(reply)
    return version === undefined ? undefined : { version, text: text ?? '' } // without a text, it is damaged
  }

  return {
    async read(requests) {
      const replies = await run(1, ...requests.map(({ key }): Command['words'] => ['hmget', key, 'version']))
      return Promise.all(
        requests.map(({ key, version: known }, i) => {
          if (replies[i] === OTHER_TYPE) return OTHER_TYPE
          const [version] = textsIn(replies[i])
          if (version === undefined) return undefined
          return version === known ? { version } : readText(key)
        }),
      )
    },
    async replace(key, text, version = '') {
      const [reply] = await run(3, ['eval', REPLACE, '1', key, version, textVersion(text), text])
      return Number(reply) === 1
    },
  }
}

/** Returns a reply, or `OTHER_TYPE` if its key holds such a value. Replies for other keys still count. */
async function orOtherType(reply: Promise<unknown>): Promise<unknown> {
  try {
    return await reply
  } catch (cause) {
    if (messageOf(cause).startsWith('WRONGTYPE')) return OTHER_TYPE
    throw cause
  }
}

/** Returns the error of a command. If the user lacks a permission, sending the command again does not help. */
function documentError({ name, hintOf }: Servers, cause: unknown): StoreError {
  const message = messageOf(cause)
  return asStoreError(name, cause, {
    replied: message.startsWith('NOPERM'),
    hint: hintOf(message),
  })
}

/** Returns the strings of a reply, which arrive as text or as buffers. */
function textsIn(reply: unknown): readonly (string | undefined)[] {
  if (!Array.isArray(reply)) return []
  return reply.map((item: unknown) => (item === null || item === undefined ? undefined : String(item)))
}
