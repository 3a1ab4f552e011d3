import type { JsonObject } from './json-text.js'
import type { LineKind, LoggedRequest } from './request-line.js'

type ReadFields = (fields: JsonObject, into: LoggedRequest) => LineKind

const HASH = 35
const FIELDS = '#Fields:'

export interface W3cLineReader {
  /** Returns `undefined` for a line in another format. */
  read(line: string, into: LoggedRequest): LineKind | undefined
  isFormatOf(line: string): boolean
}

/**
 * Creates a reader of the extended log format of the W3C, which CloudFront and IIS write: a line `#Fields:`
 * names the fields of those after it, which tabs or spaces separate.
 */
export function w3cLineReader(readFields: ReadFields): W3cLineReader {
  let names: readonly string[] | undefined

  function fieldsOf(line: string): JsonObject | undefined {
    if (names === undefined) return undefined
    const values = line.split(line.includes('\t') ? '\t' : ' ')
    return values.length === names.length
      ? Object.fromEntries(names.map((name, i) => [name, values[i]]))
      : undefined
  }

  return {
    read(line, into) {
      if (line.charCodeAt(0) === HASH) {
        if (line.startsWith(FIELDS)) names = line.slice(FIELDS.length).trim().split(/\s+/)
        return names === undefined && !/^#(?:Version|Software|Date):/.test(line) ? undefined : 'other'
      }
      const fields = fieldsOf(line)
      return fields && readFields(fields, into)
    },
    isFormatOf: (line) => fieldsOf(line) !== undefined,
  }
}
