import type { OwnNames } from './field-names.js'
import { type FoundFields, fieldFinder, type ParseTime } from './find-fields.js'
import { readRequest } from './json-request.js'
import type { JsonObject } from './json-text.js'
import type { FieldSources } from './line-reader.js'
import type { LineKind, LoggedRequest } from './request-line.js'

/** A time, and the field that it is from. */
export interface FoundTime {
  readonly timeMs: number
  readonly from: string | undefined
}

export const NO_TIME: FoundTime = { timeMs: Number.NaN, from: undefined }

/** Reads requests from fields, whatever the format of the line that has them. */
export interface FieldReader {
  /** Reads fields. If none of them is a time, the one around them counts. */
  read(fields: JsonObject, into: LoggedRequest, outer?: FoundTime): LineKind
  /** Returns the time of the fields that were read last. */
  time(): FoundTime
  /** Returns where the values of the fields that were read last are from. */
  sources(): FieldSources
}

/** Creates a reader of fields with the usual names, or those that `--fields` names. */
export function fieldReader(ownNames: OwnNames, parseTime: ParseTime): FieldReader {
  const findFields = fieldFinder(ownNames, parseTime)
  let names: FoundFields['names'] = {}
  let time = NO_TIME

  return {
    read(fields, into, outer = NO_TIME) {
      const found = findFields(fields)
      names = found.names
      time = Number.isNaN(found.timeMs) ? outer : { timeMs: found.timeMs, from: names.time }
      return readRequest(fields, found, time.timeMs, into)
    },
    time: () => time,
    sources() {
      const { client, forwarded, user, method, path, request, rewritten } = names
      return {
        address: client,
        forwarded,
        user,
        time: time.from,
        method: method ?? request,
        path: path ?? request ?? rewritten,
      }
    },
  }
}
