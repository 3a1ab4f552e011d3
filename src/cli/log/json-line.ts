import type { OwnNames } from './field-names.js'
import { type FoundTime, fieldReader, NO_TIME } from './field-reader.js'
import type { ParseTime } from './find-fields.js'
import { innerValues, partJoiner } from './inner-line.js'
import { repeatFinder } from './json-request.js'
import { isObject, type JsonObject, parseJson } from './json-text.js'
import { asLatin1 } from './line-fields.js'
import type { FieldSources } from './line-reader.js'
import type { Strip } from './prefixes.js'
import type { LineKind, LoggedRequest } from './request-line.js'

/** What reads a line. */
export type ReadLine = (line: string, into: LoggedRequest) => LineKind

/** What reads a line in a field. */
export interface InnerReader {
  readonly strip: Strip
  /** Reads lines that are not JSON. */
  readonly read: ReadLine
}

export interface JsonLineReader {
  readonly readLine: ReadLine
  /** Returns where the values of the line that was read last are from. */
  readonly sources: () => FieldSources
  /** The line in a field of the line that was read last. */
  readonly innerLine: () => string | undefined
}

/** A line may be in a field of another, such as that of Docker in that of a collector. */
const MAX_DEPTH = 4

/**
 * Creates a reader of lines that are JSON objects. A line without a time or an address is unreadable, unless a
 * field of it has a line, as collectors write them. A line
 * without a method and a path is a request all the same. Lines that an application logs while it handles a
 * request, or when it responds, are none.
 */
export function jsonLineReader(
  ownNames: OwnNames,
  parseTime: ParseTime,
  innerReader: InnerReader,
): JsonLineReader {
  const reader = fieldReader(ownNames, parseTime)
  const joinParts = partJoiner()
  const isRepeated = repeatFinder()
  let innerLine: string | undefined

  function readValue(value: unknown, into: LoggedRequest, outer: FoundTime, depth: number): LineKind {
    if (Array.isArray(value) && depth === 0) return readObject(objectOfPair(value), into, outer, depth)
    return isObject(value) ? readObject(value, into, outer, depth) : 'unreadable'
  }

  function readObject(fields: JsonObject, into: LoggedRequest, outer: FoundTime, depth: number): LineKind {
    const kind = reader.read(fields, into, outer)
    if (kind === 'request' && isRepeated(fields)) return 'other'
    if (kind !== 'unreadable' || depth === MAX_DEPTH) return kind
    const time = reader.time()
    for (const inner of innerValues(fields)) {
      const innerKind = readInside(inner, fields, into, time, depth + 1)
      if (innerKind !== 'unreadable') return innerKind
    }
    return kind
  }

  function readInside(
    inner: string | JsonObject,
    outer: JsonObject,
    into: LoggedRequest,
    outerTime: FoundTime,
    depth: number,
  ): LineKind {
    if (typeof inner !== 'string') return readObject(inner, into, outerTime, depth)
    const whole = joinParts(inner, outer)
    const line = whole === '' ? '' : innerReader.strip(asLatin1(whole))
    if (line === undefined) return 'unreadable'
    if (line === '') return 'other'
    if (line.startsWith('{')) return readValue(parseJson(line), into, outerTime, depth)
    innerLine = line
    const kind = innerReader.read(line, into)
    into.fields = outer
    return kind
  }

  return {
    readLine(line, into) {
      innerLine = undefined
      return readValue(parseJson(line), into, NO_TIME, 0)
    },
    sources: reader.sources,
    innerLine: () => innerLine,
  }
}

/** Returns the fields of a time and a line, as Loki has them. */
function objectOfPair([timestamp, line]: readonly unknown[]): JsonObject {
  return { timestamp, line }
}
