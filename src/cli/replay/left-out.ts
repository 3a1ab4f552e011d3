/** Why lines are not counted as requests, in the words of reports: they are not requests, or are not limited. */
const SKIPPED = {
  blank: 'blank',
  noRequest: 'without a request',
  otherRoute: 'left out by --only',
} as const

/** The same for lines that could not be read. */
const UNREADABLE = {
  unknownFormat: 'in no known format',
  tooLong: 'too long',
  unconfirmedTime: 'with a time that no other line confirms',
} as const

const TEXTS = { ...SKIPPED, ...UNREADABLE }

/** Why a line is not counted as a request. */
export type Reason = keyof typeof TEXTS

/** How many lines there are, by why they are not counted. */
export type ReasonCounts = Partial<Record<Reason, number>>

/** Counts lines by why they are not counted as requests. */
export class LeftOut {
  readonly #counts: ReasonCounts = {}

  count(reason: Reason): void {
    this.#counts[reason] = (this.#counts[reason] ?? 0) + 1
  }

  get skipped(): ReasonCounts {
    return this.#of(Object.keys(SKIPPED))
  }

  get unreadable(): ReasonCounts {
    return this.#of(Object.keys(UNREADABLE))
  }

  #of(reasons: readonly string[]): ReasonCounts {
    return Object.fromEntries(Object.entries(this.#counts).filter(([reason]) => reasons.includes(reason)))
  }
}

/** Returns a reason as reports say it, after a number of lines. */
export function reasonText(reason: string): string {
  return TEXTS[reason as Reason]
}
