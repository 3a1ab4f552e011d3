import { findPrefixes, type Score, type Strip, stripper } from './prefixes.js'

/** How many lines, or characters, of an input decide which prefix its lines have. */
const SAMPLE_LINES = 1000
const SAMPLE_LENGTH = 1024 * 1024
/**
 * Takes the lines of one input, without their prefix; `undefined` for a line that is too long, or that lacks
 * the prefix.
 */
type OnLine = (text: string | undefined, isTooLong: boolean) => void

/** Takes the first lines of one input, without their prefix, before any is passed on. */
type OnSample = (lines: readonly string[]) => void

/**
 * Removes what log collectors write before each line. Which prefix an input has is decided once, by its
 * first lines: the one without which most of them can be read. An input that can be read as it is stays as
 * it is, and a later line without the prefix is unreadable, so that no client can write one.
 */
export class LinePrefix {
  readonly #score: Score
  readonly #onLine: OnLine
  readonly #onSample: OnSample
  #sample: (string | undefined)[] | undefined = []
  #sampleLength = 0
  #strip: Strip = (line) => line

  constructor(score: Score, onSample: OnSample, onLine: OnLine) {
    this.#score = score
    this.#onSample = onSample
    this.#onLine = onLine
  }

  push(line: string | undefined): void {
    if (this.#sample === undefined) this.#pass(line)
    else this.#collect(line, this.#sample)
  }

  /** Passes the lines of a short input. */
  end(): void {
    if (this.#sample !== undefined) this.#decide(this.#sample)
  }

  #collect(line: string | undefined, sample: (string | undefined)[]): void {
    sample.push(line)
    this.#sampleLength += line?.length ?? 0
    if (sample.length >= SAMPLE_LINES || this.#sampleLength >= SAMPLE_LENGTH) this.#decide(sample)
  }

  #decide(sample: readonly (string | undefined)[]): void {
    this.#sample = undefined
    const lines = sample.filter((line) => line !== undefined)
    const prefixes = findPrefixes(lines, this.#score)
    this.#onSample(lines.map(stripper(prefixes)).filter((line) => line !== undefined))
    this.#strip = stripper(prefixes)
    for (const line of sample) this.#pass(line)
  }

  #pass(line: string | undefined): void {
    const text = line === undefined ? undefined : this.#strip(line)
    this.#onLine(text, line === undefined)
  }
}
