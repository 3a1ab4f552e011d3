import type { Documents, StoredDocument } from '../../stores/documents.js'
import { type Fields, isObject } from '../../util/values.js'

/** The format of the documents that dashboards share. A process leaves those of another format alone. */
export const FORMAT = 1
/** The most bytes of a document. Stores hold a million characters at most, and memcached as many bytes. */
export const MAX_TEXT = 900_000
/** How often other processes may change a document first, before a change waits for the next attempt. */
const MAX_CONFLICTS = 8

/** Thrown for a document that is not of this version of dashboards, or not of dashboards at all. */
export class ForeignDocumentError extends Error {}

/** Returns the fields in the text of a document; `undefined` if it is not of dashboards. */
export function fieldsInText(text: string | undefined): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return isObject(value) && typeof value.headgate === 'number' ? value : undefined
  } catch {
    return undefined
  }
}

/** A document that several processes change. */
export interface SharedDocument<Value> {
  /** Reads it; `undefined` if there is none. Reads its text only if it has changed. */
  read(): Promise<Value | undefined>
  /**
   * Changes it. `change` gets the latest value, and returns the new one; `undefined` if there is nothing to
   * change. It is called again if another process has changed the document meanwhile. Resolves with whether the
   * document is as it should be. If it rejects, the change may have been made.
   */
  change(change: (value: Value | undefined) => Value | undefined): Promise<boolean>
}

/** How the value of a document becomes text. */
export interface DocumentCodec<Value> {
  /** Returns the value of the fields; `undefined` if they are not those of a valid document. */
  decode(fields: Fields): Value | undefined
  encode(value: Value): object
  /** Returns less of a value whose text is too long for stores. Absent if none is. */
  smaller?(value: Value): Value
}

/** Creates access to a document. It rejects with a `ForeignDocumentError` for what it must not replace. */
export function sharedDocument<Value>(
  documents: Documents,
  key: string,
  { decode, encode, smaller }: DocumentCodec<Value>,
): SharedDocument<Value> {
  let version: string | undefined
  let value: Value | undefined

  function valueIn({ text, damage }: StoredDocument): Value {
    const fields = damage === undefined ? fieldsInText(text) : undefined
    const isOwn = fields?.headgate === FORMAT
    const found = isOwn ? decode(fields) : undefined
    if (found !== undefined) return found
    const what = fields === undefined || isOwn ? (damage ?? 'a value of another program') : 'a newer document'
    throw new ForeignDocumentError(`${key} holds ${what}, which stays as it is`)
  }

  async function read(): Promise<Value | undefined> {
    const [found] = await documents.read([{ key, version }])
    if (found === undefined) {
      version = undefined
      value = undefined
    } else if (found.version !== version) {
      value = valueIn(found)
      version = found.version
    }
    return value
  }

  function textOf(next: Value): string {
    const text = JSON.stringify({ headgate: FORMAT, ...encode(next) })
    return smaller === undefined || Buffer.byteLength(text) <= MAX_TEXT ? text : textOf(smaller(next))
  }

  async function change(edit: (value: Value | undefined) => Value | undefined): Promise<boolean> {
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
      const next = edit(await read())
      if (next === undefined) return true
      if (await documents.replace(key, textOf(next), version)) return true
    }
    return false
  }

  return { read, change }
}
