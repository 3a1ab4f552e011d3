import { AccessLineReader } from '../log/access-line.js'
import type { TemplateReader } from '../log/format/template-reader.js'
import { readJsonLine } from '../log/json-line.js'
import { jsonSources } from '../log/json-sources.js'
import type { FieldSources } from '../log/line-reader.js'
import type { LineKind, LoggedRequest } from '../log/request-line.js'
import { describeUnknownLine } from '../log/unknown-line.js'
import type { LineHelp } from './file-check.js'

/** Reads lines in the formats that a replay accepts. */
export interface LineFormats {
  read(line: string, into: LoggedRequest): LineKind
  /** Prepares for a log that begins with these lines. */
  learn(lines: readonly string[]): void
  /** Returns where the values of the line that was read last are from. */
  sources(line: string, request: LoggedRequest): FieldSources
  readonly help: LineHelp
}

const OPEN_BRACE = 123

/** Creates the reader of lines in the format that `--format` names, or else of JSON and access lines. */
export function lineFormats(format: TemplateReader | undefined): LineFormats {
  if (format !== undefined) {
    return {
      read: (line, into) => format.read(line, into),
      learn: () => undefined,
      sources: () => format.sources(),
      help: {
        formats: 'the format of --format',
        describe: (line) => `Its first line has ${format.mismatch(line)}`,
      },
    }
  }
  const access = new AccessLineReader()
  const isJson = (line: string) => line.charCodeAt(0) === OPEN_BRACE
  return {
    read: (line, into) => (isJson(line) ? readJsonLine(line, into) : access.read(line, into)),
    learn: (lines) => access.learn(lines.filter((line) => !isJson(line))),
    sources: (line, { fields }) => (fields === undefined ? access.sources(line) : jsonSources(fields)),
    help: {
      formats: 'the common or combined format, or JSON with a time and an IP address',
      describe: (line) => (isJson(line) ? '' : describeUnknownLine(line)),
    },
  }
}
