import { isObject, type JsonObject } from './json-text.js'

/**
 * The fields in which collectors keep a line, or what they have read of it: Docker and Fluent Bit (`log`),
 * Filebeat, Vector and CloudWatch (`message`), journald (`MESSAGE`), Loki (`line`), GCP (`textPayload` and
 * `jsonPayload`), Azure (`properties`), Splunk (`event`, `_raw`), loggers to which morgan writes (`msg`),
 * express-winston (`meta`) and OpenTelemetry (`attributes`).
 */
const INNER_NAMES = [
  ...[
    'log',
    'message',
    'MESSAGE',
    'line',
    'textPayload',
    'jsonPayload',
    'protoPayload',
    'properties',
    'event',
    '_raw',
  ],
  ...['@message', 'msg', 'json', 'log_processed', 'body', 'result', 'meta', 'attributes', 'Attributes'],
] as const

/** Returns the objects and lines in the fields of an object: first the objects, since clients write into lines. */
export function innerValues(fields: JsonObject): (string | JsonObject)[] {
  const objects: JsonObject[] = []
  const lines: string[] = []
  for (const name of INNER_NAMES) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (typeof value === 'string' && value !== '') lines.push(value)
    else if (isObject(value)) objects.push(value)
    else if (Array.isArray(value) && name.endsWith('ttributes')) objects.push(attributesOf(value))
    else if (Array.isArray(value)) lines.push(...textOfBytes(value))
  }
  return [...objects, ...lines]
}

/** Returns the fields that OpenTelemetry writes as an array: `[{"key":"a","value":{"stringValue":"b"}}]`. */
function attributesOf(attributes: readonly unknown[]): JsonObject {
  return Object.fromEntries(
    attributes.flatMap((each) => {
      if (!isObject(each) || typeof each.key !== 'string' || !isObject(each.value)) return []
      const { stringValue, intValue, doubleValue } = each.value
      return [[each.key, stringValue ?? intValue ?? doubleValue]]
    }),
  )
}

/** Returns the text that journald writes as an array of bytes, because not all of them are printable. */
function textOfBytes(value: readonly unknown[]): string[] {
  const isText = value.every((byte) => typeof byte === 'number' && byte >= 0 && byte <= 255)
  return isText && value.length > 0 ? [Buffer.from(value as readonly number[]).toString('utf8')] : []
}

/** Docker splits lines into parts of this many bytes. */
const PART_BYTES = 16 * 1024
/** A line is cut that is longer. */
const MAX_LINE = 4 * 1024 * 1024

/**
 * Creates a function that returns the whole line of which a field has the last part, without its end, and ''
 * for the other parts. In the files of Docker, the last part of a line has a line end.
 */
export function partJoiner(): (text: string, outer: JsonObject) => string {
  const begun = new Map<string, string>()
  return function joinParts(text, { log, stream }) {
    if (log !== text || (stream !== 'stdout' && stream !== 'stderr')) return text.trim()
    const whole = (begun.get(stream) ?? '') + text
    begun.delete(stream)
    if (text.endsWith('\n') || Buffer.byteLength(text) < PART_BYTES) return whole.trim()
    begun.set(stream, whole.slice(0, MAX_LINE))
    return ''
  }
}
