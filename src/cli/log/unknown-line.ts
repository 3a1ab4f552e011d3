import { printable } from '../output.js'
import { beginsAsTime } from './access-time.js'
import { type Column, columnsOf } from './columns.js'
import { formatOf, type GuessedField, isUsable, nameOf, timeVariable } from './guess-format.js'
import { fieldsOf, type LineField, textOfField } from './line-fields.js'
import { timeParser } from './log-time.js'
import { describeOtherLog } from './other-logs.js'

/** How many fields are shown, and how many are named. */
const SHOWN = 8
const NAMED = 24

/**
 * Returns the first fields of a line in no known format, and how to name them, as messages say it; '' for one
 * that is blank.
 */
export function describeUnknownLine(line: string): string {
  const fields = fieldsOf(line)
  if (fields.length === 0) return ''
  const other = describeOtherLog(line)
  if (other !== '') return other
  const { guessed, texts, separator } = guessLine(line, fields)
  const shown = texts.slice(0, SHOWN).map((text, i) => `${i + 1} ${printable(text)}`)
  const more = texts.length > SHOWN ? ', …' : ''
  const format = formatOf(guessed, separator)
  return `The fields of its first line are: ${shown.join(', ')}${more}. Name them with --format, such as --format '${format}'`
}

/** Returns what a line is cut into: columns, unless a text of a client has the marks, as spaces show. */
function guessLine(line: string, fields: readonly LineField[]) {
  const guessed = guessFields(line, fields.slice(0, NAMED))
  const cuts = columnsOf(line, NAMED).map((cut) => ({ ...cut, guessed: guessColumns(cut.columns) }))
  const usable = cuts.find((cut) => isUsable(cut.guessed) && !(cut.isCsv && isUsable(guessed)))
  const likely = cuts.find(({ isCsv, columns }) => !isCsv || columns.length > fields.length)
  const cut = usable ?? (isUsable(guessed) ? undefined : likely)
  if (cut !== undefined)
    return { guessed: cut.guessed, texts: cut.columns.map(({ text }) => text), separator: cut.separator }
  return { guessed, texts: fields.map(({ start, end }) => line.slice(start, end)), separator: ' ' }
}

/** Returns what fields of a line are, with those of a time that has two of them as one. */
function guessFields(line: string, fields: readonly LineField[]): readonly GuessedField[] {
  const parseTime = timeParser()
  const guessed: GuessedField[] = []
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i] as LineField
    const [name, used] = timeName(line, fields, i, parseTime) ?? [nameOf(textOfField(line, field)), 1]
    guessed.push({ name, number: i + 1, opener: field.opener })
    i += used - 1
  }
  return guessed
}

/** Returns what the columns of a line are. */
function guessColumns(columns: readonly Column[]): readonly GuessedField[] {
  const parseTime = timeParser()
  return columns.map(({ text, opener }, i) => {
    const isTime = (opener !== '' || beginsAsTime(text)) && !Number.isNaN(parseTime(text))
    return { name: isTime ? timeVariable(text) : nameOf(text), number: i + 1, opener }
  })
}

/** Returns the name of a time that begins with a field, and how many fields it has. */
function timeName(
  line: string,
  fields: readonly LineField[],
  index: number,
  parseTime: (text: string) => number,
): readonly [name: string, used: number] | undefined {
  const first = fields[index] as LineField
  const text = textOfField(line, first)
  if (!beginsAsTime(text)) return undefined
  const next = fields[index + 1]
  const both = next === undefined ? '' : line.slice(first.start, next.end)
  if (first.opener === '' && !Number.isNaN(parseTime(both))) return ['time_local', 2]
  if (Number.isNaN(parseTime(text))) return undefined
  return [timeVariable(text), 1]
}
