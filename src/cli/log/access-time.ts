import { LOG_TIME_LENGTH } from './log-time.js'

/** The longest text that is tried: a zone may have a name besides its offset. */
const MAX_LENGTH = 80

/** The beginning of a time, before which no other number is mistaken for one. */
const BEGIN = /^(?:\d{4}[-/]\d\d[-/]\d\d(?:[T ]|$)|\d\d[/ -][A-Z][a-z]{2}[/ -]\d{4}(?:[: ]|$)|\d{10}\.\d{3})/

/** Returns whether a text begins as a time does that stands in no brackets. */
export function beginsAsTime(text: string): boolean {
  return BEGIN.test(text)
}

const SPACE = 32
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93

/**
 * Returns where a time begins that stands right before a quote, in brackets or without; -1 if there is none.
 * What it returns may still turn out to be no time.
 */
export function timeStartBefore(line: string, quote: number): number {
  if (quote < 2 || line.charCodeAt(quote - 1) !== SPACE) return -1
  if (line.charCodeAt(quote - 2) === CLOSE_BRACKET) {
    const usual = quote - 3 - LOG_TIME_LENGTH
    if (line.charAt(usual) === '[') return usual
    const near = Math.max(0, quote - MAX_LENGTH)
    const text = line.slice(near, quote)
    const open = text.lastIndexOf('[')
    const outer = text.endsWith(']] ') ? text.lastIndexOf('[', open - 1) : open // [2026-11-28T10:00:00Z[Etc/UTC]]
    return outer < 0 ? -1 : near + outer
  }
  return bareTimeStart(line, quote - 1)
}

/** Returns the text of a time that begins at `start`, right before a quote. */
export function timeTextBefore(line: string, start: number, quote: number): string {
  const isBracketed = line.charCodeAt(start) === OPEN_BRACKET
  return isBracketed ? line.slice(start + 1, quote - 2) : line.slice(start, quote - 1)
}

/** The most words of a time without brackets, as in `2026-11-28 10:00:00 +0000`. */
const MAX_WORDS = 3

function bareTimeStart(line: string, end: number): number {
  let found = -1
  let start = end
  for (let words = 0; words < MAX_WORDS && start > 0 && end - start < MAX_LENGTH; words++) {
    start = line.lastIndexOf(' ', start - 1)
    if (beginsAsTime(line.slice(start + 1, Math.min(end, start + 1 + MAX_LENGTH)))) found = start + 1
    if (start < 0) break
  }
  return found
}
