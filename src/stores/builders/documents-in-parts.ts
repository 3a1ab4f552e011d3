import type { Documents, StoredDocument } from '../documents.js'
import { textVersion } from '../shared/text-version.js'
import type { Unchecked } from '../shared/validate.js'
import { StoreError } from '../store-error.js'

/** A database whose values are too small for some documents. */
export interface SmallValues<Version> {
  /** The store's name in errors. */
  readonly name: string
  /** The most characters of a part. A character takes at most six bytes. */
  readonly partLength: number
  /** Returns `undefined` if the key is missing, and leaves out `text` if the key holds none. */
  read(key: string): Promise<{ readonly text?: string; readonly version: Version } | undefined>
  /** Writes a text if the key still has this version. Returns whether it did. */
  swap(key: string, text: string, version: Version | undefined): Promise<boolean>
  write(key: string, text: string): Promise<unknown>
  remove(key: string): Promise<unknown>
}

/** The value of a document's key: the text, or the keys of its parts. */
interface Head {
  readonly version: string
  readonly text?: string
  readonly parts?: readonly string[]
}

/** How many parts are read or written at once. */
const AT_ONCE = 10
const MAX_READS = 5

/**
 * Keeps each document as one value, or in parts if it is too long. The parts are written first, and never
 * changed. Then the value that names them is written, in one step.
 */
export function documentsInParts<Version>(values: SmallValues<Version>): Documents {
  const { name, partLength } = values

  async function readHead(key: string) {
    const stored = await values.read(key)
    return stored && { head: headIn(stored.text), ...stored }
  }

  async function readDocument(key: string, known: string | undefined): Promise<StoredDocument | undefined> {
    for (let reads = 0; reads < MAX_READS; reads++) {
      const stored = await readHead(key)
      if (stored === undefined) return undefined
      const { head } = stored
      if (head === undefined) return damagedDocument(stored.version)
      const { version, text, parts = [] } = head
      if (version === known) return { version }
      if (text !== undefined) return { version, text }
      const read = await eachOf(parts, async (part) => (await values.read(part))?.text)
      if (read.every((part) => part !== undefined)) return { version, text: read.map(decodePart).join('') }
    }
    throw new StoreError(name, `the document ${key} changed during each of ${MAX_READS} attempts to read it`)
  }

  async function replace(key: string, text: string, version: string | undefined): Promise<boolean> {
    const before = await readHead(key)
    if (versionOf(before) !== version) return false
    const id = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`
    const pieces = text.length > partLength ? piecesOf(text, partLength) : []
    const parts = pieces.map((_, i) => `${key}#${id}-${i}`)
    await eachOf(parts, (part, i) => values.write(part, JSON.stringify(pieces[i])))
    const content = parts.length > 0 ? { parts } : { text }
    const head: Head = { version: textVersion(text), ...content }
    const isWritten = await values.swap(key, JSON.stringify(head), before?.version)
    await eachOf((isWritten ? before?.head?.parts : parts) ?? [], (part) => values.remove(part))
    return isWritten
  }

  return {
    read: (requests) => Promise.all(requests.map(({ key, version }) => readDocument(key, version))),
    replace,
  }
}

function headIn(text: string | undefined): Head | undefined {
  try {
    const { version, text: whole, parts }: Unchecked<Head> = JSON.parse(text ?? '')
    const isHead = typeof version === 'string' && (typeof whole === 'string' || Array.isArray(parts))
    return isHead ? JSON.parse(text ?? '') : undefined
  } catch {
    return undefined
  }
}

const damagedDocument = (version: unknown): StoredDocument => ({
  version: `damaged:${version}`,
  damage: 'a value of another program',
})

function versionOf(stored: { readonly head: Head | undefined; readonly version: unknown } | undefined) {
  return stored && (stored.head?.version ?? damagedDocument(stored.version).version)
}

function piecesOf(text: string, length: number): string[] {
  return Array.from({ length: Math.ceil(text.length / length) }, (_, i) =>
    text.slice(i * length, (i + 1) * length),
  )
}

const decodePart = (part: string | undefined): string => JSON.parse(part ?? '""')

/** Takes a step for each item, a few at a time. */
async function eachOf<T, R>(items: readonly T[], step: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let start = 0; start < items.length; start += AT_ONCE) {
    const some = items.slice(start, start + AT_ONCE)
    results.push(...(await Promise.all(some.map((item, i) => step(item, start + i)))))
  }
  return results
}
