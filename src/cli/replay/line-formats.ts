import type { OwnNames } from '../log/field-names.js'
import type { Template } from '../log/format/template.js'
import { TemplateReader } from '../log/format/template-reader.js'
import { type JsonLineReader, jsonLineReader, type ReadLine } from '../log/json-line.js'
import type { LineReader } from '../log/line-reader.js'
import { type ToUtc, timeParser } from '../log/log-time.js'
import { findPrefixes, prefixScore, type Score, stripper } from '../log/prefixes.js'
import { emptyRequest } from '../log/request-line.js'
import { TextLineReader } from '../log/text-lines.js'
import { describeUnknownFields } from '../log/unknown-fields.js'
import { describeUnknownLine } from '../log/unknown-line.js'
import type { LineHelp } from './file-check.js'

/** How the lines of logs are written, as far as options say it. */
export interface FormatOptions {
  readonly format: Template | undefined
  readonly names: OwnNames
}

/** Reads the lines of one log. */
export interface LineFormats extends LineReader {
  readonly help: LineHelp
}

/** Creates the reader of lines in the format that `--format` names, or else in any known one. */
export function lineFormats({ format, names }: FormatOptions, toUtc: ToUtc): LineFormats {
  const text = format === undefined ? new TextLineReader(names, toUtc) : new TemplateReader(format, toUtc)
  const read: ReadLine = (line, into) => text.read(line, into)
  let strip = stripper([])
  const json = jsonLineReader(names, timeParser(toUtc), { strip: (line) => strip(line), read })
  const formats = text instanceof TemplateReader ? namedFormat(text, json) : knownFormats(text, json)
  return {
    ...formats,
    learn(lines) {
      const wrapped = wrappedLines(lines)
      const prefixes = findPrefixes(wrapped, scorer(text, names))
      strip = stripper(prefixes)
      const inner = wrapped.map(stripper(prefixes)).filter((line) => line !== undefined)
      text.learn([...lines, ...inner].filter((line) => !isJson(line)))
    },
  }
}

type WithoutLearning = Omit<LineFormats, 'learn'>

function namedFormat(reader: TemplateReader, { readLine }: JsonLineReader): WithoutLearning {
  return {
    sources: () => reader.sources(),
    read(line, into) {
      const kind = reader.read(line, into)
      return kind === 'unreadable' && isJson(line) ? readLine(line, into) : kind
    },
    help: {
      formats: 'the format of --format',
      describe: (line) => `Its first line has ${reader.mismatch(line)}`,
    },
  }
}

function knownFormats(text: LineReader, json: JsonLineReader): WithoutLearning {
  return {
    read: (line, into) => (isJson(line) ? json.readLine(line, into) : text.read(line, into)),
    sources(line) {
      if (!isJson(line)) return text.sources(line)
      const inner = json.innerLine()
      return inner === undefined ? json.sources() : text.sources(inner)
    },
    help: {
      formats: 'the common or combined format, or JSON with a time and an IP address',
      describe: (line) => describeUnknownFields(line) || (isJson(line) ? '' : describeUnknownLine(line)),
    },
  }
}

/** Returns how sure it is that requests begin where texts in fields do. Their times may be around them. */
function scorer(text: LineReader, names: OwnNames): Score {
  const request = emptyRequest()
  const noInner = { strip: stripper([]), read: () => 'unreadable' as const }
  const { readLine } = jsonLineReader(names, () => 0, noInner)
  return (lines) => {
    text.learn(lines.filter((line) => !isJson(line)))
    return lines.reduce((sum, line) => {
      const kind = isJson(line) ? readLine(line, request) : text.read(line, request)
      return sum + prefixScore(line, kind, request)
    }, 0)
  }
}

/** Returns the lines in the fields of others. */
function wrappedLines(lines: readonly string[]): string[] {
  const found: string[] = []
  const collect = (line: string) => {
    found.push(line)
    return 'unreadable' as const
  }
  const noTime = () => Number.NaN // so that each line with inner ones is searched for them
  const { readLine } = jsonLineReader({}, noTime, { strip: stripper([]), read: collect })
  const into = emptyRequest()
  for (const line of lines) if (isJson(line)) readLine(line, into)
  return found
}

const OPEN_BRACE = 123
const OPEN_BRACKET = 91
/** How a pair of a time and a line begins, as Loki has them. */
const PAIR = /^\[\s*"/

function isJson(line: string): boolean {
  const code = line.charCodeAt(0)
  return code === OPEN_BRACE || (code === OPEN_BRACKET && PAIR.test(line))
}
