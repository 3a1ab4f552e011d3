import type { Documents } from '../../stores/documents.js'
import { type Note, parseNote } from './note.js'

/** How many slots are read together. */
const CHUNK = 16
/** The most slots, so the most processes whose notes are read. */
const MAX_SLOTS = 1024

/** A document that a process writes its note into. */
interface Slot {
  readonly version: string
  /** Absent if the slot is empty, or holds something else. */
  readonly note: Note | undefined
}

/** The notes that processes leave for one another in a store. */
export interface NoteSlots {
  /** Writes the note of a process in place of its last one. */
  write(process: string, text: string): Promise<void>
  /** Returns the notes of all processes. Empties the slots of those that are not kept. */
  read(): Promise<readonly Note[]>
}

/**
 * Creates the notes below a key. Each process has a slot, a document that it alone writes, so processes do
 * not wait for one another. Documents never expire. So a process takes the first slot that is free or whose
 * note is not kept any more, and there are never more slots than there were processes at one time. A
 * store may lose documents, so a slot may be missing between others.
 */
export function noteSlots(documents: Documents, key: string, isKept: (note: Note) => boolean): NoteSlots {
  const slots: (Slot | undefined)[] = []
  let own: number | undefined

  const keyOf = (index: number) => `${key}/${index}`

  /** Reads some slots. Returns whether any of them exists. */
  async function readSlots(indexes: readonly number[]): Promise<boolean> {
    const requests = indexes.map((index) => ({ key: keyOf(index), version: slots[index]?.version }))
    const found = await documents.read(requests)
    for (const [i, index] of indexes.entries()) {
      const { version, text } = found[i] ?? {}
      if (version === undefined) slots[index] = undefined
      else if (text !== undefined) slots[index] = { version, note: parseNote(text) }
    }
    return indexes.some((index) => slots[index] !== undefined)
  }

  async function readAll(): Promise<void> {
    for (let first = 0; first < MAX_SLOTS; first += CHUNK) {
      const indexes = Array.from({ length: CHUNK }, (_, i) => first + i)
      if (!(await readSlots(indexes))) return
    }
  }

  /** Returns whether a process may write into a slot, as it was last read. */
  function isFree(index: number, process: string): boolean {
    const note = slots[index]?.note
    return note === undefined || note.process === process || !isKept(note)
  }

  async function write(process: string, text: string): Promise<void> {
    if (own !== undefined) {
      await readSlots([own])
      const isOwn = slots[own]?.note?.process === process
      if (isOwn && (await documents.replace(keyOf(own), text, slots[own]?.version))) return
    }
    await readAll()
    const last = slots.findIndex((slot) => slot?.note?.process === process) // of a copy in this process
    for (let index = Math.max(0, last); index < MAX_SLOTS; index++) {
      if (!isFree(index, process)) continue
      if (!(await documents.replace(keyOf(index), text, slots[index]?.version))) continue
      own = index
      return
    }
  }

  async function read(): Promise<readonly Note[]> {
    await readAll()
    const notes = slots.flatMap((slot) => slot?.note ?? [])
    const stale = slots.flatMap((slot, index) => (slot?.note && !isKept(slot.note) ? index : []))
    await Promise.all(stale.map((index) => documents.replace(keyOf(index), '', slots[index]?.version)))
    return notes.filter(isKept)
  }

  return { write, read }
}
