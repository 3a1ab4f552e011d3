import type { LineKind, LoggedRequest } from './request-line.js'

/** Which field of a line each value is from, as people name it; `undefined` where there is none. */
export interface FieldSources {
  readonly address: string | undefined
  readonly forwarded: string | undefined
  readonly user: string | undefined
  readonly time: string | undefined
  readonly method: string | undefined
  readonly path: string | undefined
}

/** Reads the lines of a log in one format. */
export interface LineReader {
  /** Reads a line into `into`. */
  read(line: string, into: LoggedRequest): LineKind
  /** Prepares for a log that begins with these lines. */
  learn(lines: readonly string[]): void
  /** Returns where the values of the line that was read last are from. */
  sources(line: string): FieldSources
}
