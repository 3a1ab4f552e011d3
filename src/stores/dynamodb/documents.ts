import { documentsInParts } from '../builders/documents-in-parts.js'
import type { Documents } from '../documents.js'
import type { Item, Table } from './client.js'
import { isWritten } from './unless-changed.js'

/** An item has at most 400 KB. */
const PART_LENGTH = 60_000

/** Keeps each document as items that never expire. */
export function dynamodbDocuments(table: Table, keyOf: (key: string) => string): Documents {
  const itemOf = (key: string, text: string): Item => ({
    key: { S: keyOf(key) },
    document: { S: text },
    revision: { S: String(Math.floor(Math.random() * 2 ** 48)) },
  })

  function swap(key: string, text: string, revision: string | undefined): Promise<boolean> {
    const isNew = revision === undefined
    const condition = {
      ConditionExpression: isNew ? 'attribute_not_exists(#name)' : '#name = :revision',
      ExpressionAttributeNames: { '#name': isNew ? 'key' : 'revision' },
      ...(!isNew && { ExpressionAttributeValues: { ':revision': { S: revision } } }),
    }
    return isWritten(() => table.put(itemOf(key, text), condition))
  }

  return documentsInParts<string>({
    name: 'dynamodb',
    partLength: PART_LENGTH,
    async read(key) {
      const item = await table.get(keyOf(key))
      if (item === undefined) return undefined
      const text = item.document?.S
      const version = item.revision?.S ?? 'none' // of no document: a replacement fails
      return text === undefined ? { version } : { text, version }
    },
    swap,
    write: (key, text) => table.put(itemOf(key, text), {}),
    remove: (key) => table.remove(keyOf(key), {}),
  })
}
