import type { DocumentRequest, Documents } from '../stores/documents.js'
import { decodeShares, encodeShares, type SharesDocument } from './shares-document.js'

/** How many slots are read together, and the most slots, so the most processes that share. */
const CHUNK = 16
const MAX_SLOTS = 64

/** If a document has not changed for this time, its process has ended, or cannot write. */
const STALE_MS = 3000

/** What a slot holds once its process has left it. */
const LEFT = ''

interface Slot {
  readonly version: string
  /** Absent if no guard wrote what the slot holds. Such a slot is never overwritten. */
  readonly document: SharesDocument | typeof LEFT | undefined
  /** When this process saw it change, or first saw it. Clocks of other processes are not compared. */
  readonly changedAtMs: number
  /** Whether it has changed since this process first saw it. */
  readonly isAlive: boolean
}

/**
 * The documents that guards of one name publish for one another in a store. Each guard has a slot: a key
 * that it alone writes. Documents never expire, so a process takes the first slot that is free, or whose
 * document is stale. There are never more slots than there were processes within 3 s.
 */
export class ShareSlots {
  readonly #documents: Documents
  readonly #key: string
  readonly #slots: (Slot | undefined)[] = []
  #firstReadMs: number | undefined

  constructor(documents: Documents, key: string) {
    this.#documents = documents
    this.#key = key
  }

  /** Reads all slots. Rejects with a `StoreError` if the store failed. */
  async read(now: () => number): Promise<void> {
    for (let first = 0; first < MAX_SLOTS; first += CHUNK) {
      const indexes = Array.from({ length: CHUNK }, (_, i) => first + i)
      const found = await this.#documents.read(indexes.map((index) => this.#requestOf(index)))
      const nowMs = now()
      for (const [i, index] of indexes.entries()) {
        const { version, text, damage } = found[i] ?? {}
        if (version === undefined) this.#slots[index] = undefined
        else if (damage !== undefined || text !== undefined) this.#take(index, version, text, nowMs)
      }
      if (found.some((each) => each !== undefined)) continue
      this.#slots.length = first // what was beyond is gone
      break
    }
    this.#firstReadMs ??= now()
  }

  /** Returns the documents that other processes have changed within 3 s, as last read. */
  others(id: string, nowMs: number): readonly SharesDocument[] {
    return this.#slots.flatMap((slot) => {
      const isTold = slot?.isAlive && nowMs - slot.changedAtMs < STALE_MS
      return isTold && slot.document && slot.document.id !== id ? slot.document : []
    })
  }

  /**
   * Writes the document of this process in place of its last one. A process that has just begun does not: it
   * cannot know yet which documents are stale.
   */
  async write(document: SharesDocument, nowMs: number): Promise<void> {
    if (nowMs - (this.#firstReadMs ?? nowMs) < STALE_MS) return
    const text = encodeShares(document)
    const own = this.#indexOf(document.id)
    if (own >= 0 && (await this.#replace(own, text))) return
    for (let index = 0; index < MAX_SLOTS; index++)
      if (this.#isFree(index, nowMs) && (await this.#replace(index, text))) return
  }

  /** Leaves the slot of this process to others. */
  async leave(id: string): Promise<void> {
    const own = this.#indexOf(id)
    if (own >= 0) await this.#replace(own, LEFT)
  }

  #indexOf(id: string): number {
    return this.#slots.findIndex((slot) => slot?.document && slot.document.id === id)
  }

  #requestOf(index: number): DocumentRequest {
    return { key: `${this.#key}/${index}`, version: this.#slots[index]?.version }
  }

  #take(index: number, version: string, text: string | undefined, changedAtMs: number): void {
    const before = this.#slots[index]
    if (before?.version === version) return
    const document = text === undefined || text === LEFT ? text : decodeShares(text)
    this.#slots[index] = { version, document, changedAtMs, isAlive: before !== undefined }
  }

  #isFree(index: number, nowMs: number): boolean {
    const slot = this.#slots[index]
    if (slot === undefined || slot.document === LEFT) return true
    return slot.document !== undefined && nowMs - slot.changedAtMs >= STALE_MS
  }

  /** Replaces what a slot held at the last read. Returns false if it holds something else by now. */
  #replace(index: number, text: string): Promise<boolean> {
    const { key, version } = this.#requestOf(index)
    return this.#documents.replace(key, text, version)
  }
}
