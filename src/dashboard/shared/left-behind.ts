import { nameHash } from '../../util/distinct-names.js'
import type { ProcessDocument, ProcessHeader } from './process-document.js'

/**
 * A process that has been gone for this long is not expected back. If one comes back nevertheless, it has lost what it
 * counted of a step after its last report.
 */
const CERTAIN_MS = 60_000
/** Processes that noticed act within this time after that, so that the first of them does it for all. */
const SPREAD_MS = 60_000

/** The processes that have gone, and may have left steps that are not in the history. */
export class LeftBehind {
  readonly #own: string
  /** When this process first saw each of them gone. */
  #goneMs = new Map<string, number>()
  #adopted = new Set<string>()

  constructor(own: string) {
    this.#own = own
  }

  /** Takes those that are gone now. One that lives again is forgotten. */
  update(nowMs: number, gone: readonly ProcessHeader[]): void {
    const keys = gone.map(keyOf)
    this.#goneMs = new Map(keys.map((key) => [key, this.#goneMs.get(key) ?? nowMs]))
    this.#adopted = new Set(keys.filter((key) => this.#adopted.has(key)))
  }

  /** Returns those whose steps this process should add now. */
  due(nowMs: number, documents: readonly ProcessDocument[]): readonly ProcessDocument[] {
    return documents.filter(({ header }) => {
      const key = keyOf(header)
      const goneMs = this.#goneMs.get(key)
      if (goneMs === undefined || this.#adopted.has(key)) return false
      const delayMs = CERTAIN_MS + (nameHash(`${this.#own} ${key}`) % SPREAD_MS)
      return Math.abs(nowMs - goneMs) >= delayMs
    })
  }

  /** Says that the history has the steps of a process. */
  adopted(header: ProcessHeader): void {
    this.#adopted.add(keyOf(header))
  }

  /** Returns whether nothing is left to add of a process. */
  isDone(header: ProcessHeader): boolean {
    return header.closedAtMs !== undefined || this.#adopted.has(keyOf(header))
  }
}

function keyOf({ id, dashboard }: ProcessHeader): string {
  return `${id} ${dashboard}`
}
