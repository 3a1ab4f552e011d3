/** A record longer than this is unreadable, and is not kept. */
const MAX_RECORD = 4 * 1024 * 1024

/** The arrays that hold records, by their names in the exports of CloudWatch, Azure, CloudTrail, Loki and OTLP. */
const ARRAYS = new Set([
  ...['events', 'logEvents', 'records', 'Records', 'result', 'values', 'entries'],
  ...['resourceLogs', 'scopeLogs', 'logRecords', 'resourceSpans', 'scopeSpans', 'spans'],
])
/** The objects in which such an array may lie. */
const OBJECTS = new Set(['data'])
const MAX_NAME_LENGTH = 16
/** No export nests its records deeper. */
const MAX_FRAMES = 8

/** An array or object that is open, and is not inside a record. */
interface Frame {
  readonly isArray: boolean
  /** Whether it may be a record: it is in an array, or in nothing. */
  readonly isElement: boolean
  start: number
  /** Whether records are inside it, so that it is none. */
  holdsRecords: boolean
}

/** A bracket or the beginning of a string. */
const TOKEN = /["{}[\]]/g
const [QUOTE, OPEN_BRACE, OPEN_BRACKET, NEWLINE, BACKSLASH] = [34, 123, 91, 10, 92]

/**
 * Splits JSON into records, wherever its lines end: the objects of an array, of arrays with a known name inside
 * an object, or objects that follow one another. A pair in such an array is also a record. Text is Latin-1, as
 * `LineSplitter` has it. A record that is too long, or that a new one interrupts, comes as `undefined`.
 */
export class JsonRecords {
  readonly #onRecord: (record: string | undefined) => void
  /** From the beginning of the open record on. */
  #text = ''
  /** How much of the text is scanned. */
  #at = 0
  #frames: Frame[] = []
  /** How many brackets are open inside the record. */
  #depth = 0
  /** Where the open string begins; -1 outside of strings. */
  #stringStart = -1
  /** The last string that may be the name of an array. */
  #name = ''
  #newlineAt = -1
  #isLost = false

  constructor(onRecord: (record: string | undefined) => void) {
    this.#onRecord = onRecord
  }

  /** Whether the text so far ends inside a string. */
  get isInString(): boolean {
    return this.#stringStart >= 0
  }

  push(chunk: Buffer): void {
    this.#text += chunk.toString('latin1')
    this.#newlineAt = -1
    if (!this.#isLost || this.#recover()) this.#scan()
    this.#forget()
  }

  /** Emits that the last record is incomplete, if it is. */
  end(): void {
    if (!this.#isLost && this.#frames.some(mayBeRecord)) this.#onRecord(undefined)
  }

  #scan(): void {
    while (this.#stringStart < 0 || this.#endString()) {
      TOKEN.lastIndex = this.#at
      if (!TOKEN.test(this.#text)) {
        this.#at = this.#text.length
        return
      }
      this.#at = TOKEN.lastIndex
      const code = this.#text.charCodeAt(this.#at - 1)
      if (code === QUOTE) this.#stringStart = this.#at
      else if (code === OPEN_BRACE || code === OPEN_BRACKET) this.#open(code === OPEN_BRACKET)
      else this.#close()
    }
  }

  /** Returns whether the open string has ended. JSON has no line ends in strings: one interrupts the record. */
  #endString(): boolean {
    const quoteAt = this.#quoteFrom(this.#at)
    const newlineAt = this.#nextNewline()
    if (newlineAt >= 0 && (quoteAt < 0 || newlineAt < quoteAt)) {
      this.#at = newlineAt
      this.#interrupt()
      return true
    }
    if (quoteAt < 0) {
      this.#at = this.#text.length
      return false
    }
    const length = quoteAt - this.#stringStart
    if (this.#depth === 0)
      this.#name = length > MAX_NAME_LENGTH ? '' : this.#text.slice(this.#stringStart, quoteAt)
    this.#stringStart = -1
    this.#at = quoteAt + 1
    return true
  }

  /** Returns where the open string ends, from a place on; -1 if it does not. */
  #quoteFrom(from: number): number {
    for (let at = this.#text.indexOf('"', from); at >= 0; at = this.#text.indexOf('"', at + 1)) {
      let start = at
      while (start > this.#stringStart && this.#text.charCodeAt(start - 1) === BACKSLASH) start--
      if ((at - start) % 2 === 0) return at
    }
    return -1
  }

  #nextNewline(): number {
    if (this.#newlineAt < this.#at) {
      const found = this.#text.indexOf('\n', this.#at)
      this.#newlineAt = found < 0 ? Number.POSITIVE_INFINITY : found
    }
    return this.#newlineAt === Number.POSITIVE_INFINITY ? -1 : this.#newlineAt
  }

  #open(isArray: boolean): void {
    const start = this.#at - 1
    const parent = this.#frames.at(-1)
    const isInterrupting = !isArray && this.#text.charCodeAt(start - 1) === NEWLINE
    if (isInterrupting && parent !== undefined && !(parent.isArray && this.#depth === 0)) {
      this.#interrupt()
      this.#open(isArray)
      return
    }
    if (this.#depth > 0 || !this.#isOuter(parent, isArray)) {
      this.#depth++
      return
    }
    const isElement = parent === undefined || parent.isArray
    if (parent?.isArray === true) for (const frame of this.#frames) frame.holdsRecords = true
    this.#frames.push({ isArray, isElement, start, holdsRecords: false })
  }

  /** Returns whether what opens in a frame is a record, or may hold some. */
  #isOuter(parent: Frame | undefined, isArray: boolean): boolean {
    if (parent === undefined) return true
    if (this.#frames.length === MAX_FRAMES) return false
    if (parent.isArray) return !(parent.isElement && this.#frames.length > 1)
    return (isArray ? ARRAYS : OBJECTS).has(this.#name)
  }

  #close(): void {
    if (this.#depth > 0) {
      this.#depth--
      return
    }
    const frame = this.#frames.pop()
    if (frame?.isElement && mayBeRecord(frame, this.#frames.length))
      this.#onRecord(this.#text.slice(frame.start, this.#at))
  }

  /** Gives up the open record. */
  #interrupt(): void {
    this.#onRecord(undefined)
    this.#frames = this.#frames.filter(({ holdsRecords }) => holdsRecords)
    while (this.#frames.at(-1)?.isArray === false) this.#frames.pop()
    this.#depth = 0
    this.#stringStart = -1
  }

  /** Drops the text that is no longer needed. */
  #forget(): void {
    const open = this.#frames.find(({ holdsRecords }) => !holdsRecords)
    const inString = this.#stringStart < 0 ? this.#at : this.#stringStart - 1
    const start = Math.min(open?.start ?? this.#at, inString)
    this.#text = this.#text.slice(start)
    this.#at -= start
    if (this.#stringStart >= 0) this.#stringStart -= start
    for (const frame of this.#frames) frame.start -= start
    if (this.#text.length <= MAX_RECORD) return
    this.#interrupt()
    this.#isLost = true
    this.#text = ''
    this.#at = 0
  }

  /** Returns whether the record that was too long has ended: the next one begins a line. */
  #recover(): boolean {
    const found = /\n\s*(?:\{|$)/.exec(this.#text)
    this.#text = found === null ? '' : this.#text.slice(found.index)
    this.#at = 0
    this.#isLost = found === null
    return !this.#isLost
  }
}

/** Returns whether an open array or object, at this depth, is a record or a part of one. */
function mayBeRecord({ holdsRecords, isArray, isElement }: Frame, place: number): boolean {
  return !holdsRecords && (!isArray || (isElement && place > 0))
}
