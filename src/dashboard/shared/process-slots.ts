import type { Documents } from '../../stores/documents.js'
import { textVersion } from '../../stores/shared/text-version.js'
import { type ProcessDocument, type ProcessHeader, ProcessReader } from './process-document.js'

/** Returns what the keys of the slots start with that have the figures of processes. */
export function processesKey(prefix: string): string {
  return `${prefix}:dashboard:processes`
}

/** Returns what the keys of the slots start with that have the clients of processes. */
export function clientsKey(prefix: string): string {
  return `${prefix}:dashboard:clients`
}

/** How many slots are read beyond the last one that is known. */
const CHUNK = 16
/** The most slots, so the most processes whose documents are read. */
const MAX_SLOTS = 1024
/** If all slots are taken, a process takes that of one that has been silent for so long. */
const SILENT_MS = 60_000

/** A key that a process writes its document to. */
export interface Slot {
  readonly version: string
  /** Absent if the slot is empty, or holds something else. */
  readonly document: ProcessDocument | undefined
  /** What reads it. It knows what the last document had. */
  readonly reader: ProcessReader
  /** Whether the slot holds nothing that dashboards have written. It stays as it is. */
  readonly isForeign: boolean
}

/** The documents that processes leave for one another in a store. */
export interface ProcessSlots {
  /** Writes the document of a process in place of its last one. */
  write(header: ProcessHeader, text: string): Promise<void>
  /** Reads the slots of all processes, by index. */
  read(): Promise<readonly (Slot | undefined)[]>
  /** Returns whether the document that a process wrote last is no longer there, as of the last read. */
  isLost(header: ProcessHeader): boolean
  /** Reads the slot of a process. Its text is not sent while it is what the process wrote. */
  readOwn(): Promise<void>
  /** Replaces what a slot held at the last read, if it still does. */
  replace(index: number, text: string): Promise<void>
}

/**
 * Creates the documents below a key. Each dashboard of a process has a slot, a key that it alone writes, so
 * processes do not wait for one another. Documents never expire. So a process takes the first slot that is free or
 * whose document is no longer kept, and there are never more slots than there were processes at one time.
 * A store may lose documents, so a slot may be missing between others.
 */
export function processSlots(
  documents: Documents,
  key: string,
  isKept: (header: ProcessHeader) => boolean,
): ProcessSlots {
  const slots: (Slot | undefined)[] = []
  let own: number | undefined

  const keyOf = (index: number) => `${key}/${index}`

  async function readSlots(indexes: readonly number[]): Promise<void> {
    const requests = indexes.map((index) => ({ key: keyOf(index), version: slots[index]?.version }))
    const found = await documents.read(requests)
    for (const [i, index] of indexes.entries()) {
      const { version, text, damage } = found[i] ?? {}
      if (version === undefined) slots[index] = undefined
      else if (damage !== undefined)
        slots[index] = { version, document: undefined, isForeign: true, reader: new ProcessReader() }
      else if (text !== undefined) slots[index] = slotOf(version, text, slots[index]?.reader)
    }
  }

  /** Reads the slots that are known and some more at once, and goes on as long as there are any. */
  async function readAll(): Promise<void> {
    let end = 0
    do {
      const first = end
      end = Math.min(MAX_SLOTS, Math.max(first, slots.length) + CHUNK)
      await readSlots(Array.from({ length: end - first }, (_, i) => first + i))
    } while (end < MAX_SLOTS && slots.slice(end - CHUNK).some(isTaken))
    slots.length = slots.findLastIndex(isTaken) + 1 // what was beyond is gone
  }

  /** Returns whether a process may write into a slot, as it was last read. */
  function isFree(index: number, header: ProcessHeader): boolean {
    const slot = slots[index]
    if (slot === undefined) return true
    if (slot.isForeign) return false
    return slot.document === undefined || isSame(slot, header) || !isKept(slot.document.header)
  }

  /** Replaces what a slot held at the last read. What was written is not read back, if its version is as expected. */
  async function replaceOwn(index: number, text: string): Promise<boolean> {
    const { version, reader } = slots[index] ?? {}
    if (!(await documents.replace(keyOf(index), text, version))) return false
    slots[index] = slotOf(textVersion(text), text, reader)
    return true
  }

  /** The own slot is mostly as this process left it, so it is read only if it is not. */
  async function write(header: ProcessHeader, text: string): Promise<void> {
    if (own !== undefined && isFree(own, header) && (await replaceOwn(own, text))) return
    await readAll()
    const last = slots.findIndex((slot) => isSame(slot, header)) // a reply may have been lost
    const isWritten =
      (await claim(Math.max(0, last), text, (index) => isFree(index, header))) ||
      (await claim(0, text, (index) => isSilent(slots[index], header)))
    if (!isWritten) throw new Error(`more than ${MAX_SLOTS} dashboards report to this store`)
  }

  /** Writes a text into the first slot that is free. Returns whether one was. */
  async function claim(from: number, text: string, isFreeAt: (index: number) => boolean): Promise<boolean> {
    for (let index = from; index < MAX_SLOTS; index++) {
      if (!isFreeAt(index)) continue
      if (!(await replaceOwn(index, text))) continue
      own = index
      return true
    }
    return false
  }

  async function read(): Promise<readonly (Slot | undefined)[]> {
    await readAll()
    return slots
  }

  function isLost(header: ProcessHeader): boolean {
    return own !== undefined && !isSame(slots[own], header)
  }

  async function readOwn(): Promise<void> {
    if (own !== undefined) await readSlots([own])
  }

  async function replace(index: number, text: string): Promise<void> {
    await documents.replace(keyOf(index), text, slots[index]?.version)
  }

  return { write, read, isLost, readOwn, replace }
}

function isTaken(slot: Slot | undefined): boolean {
  return slot !== undefined
}

function slotOf(version: string, text: string, reader = new ProcessReader()): Slot {
  if (text === '') return { version, document: undefined, isForeign: false, reader }
  const document = reader.read(text)
  return { version, document, isForeign: document === undefined, reader }
}

/** Returns whether a process has not written into its slot for a while, because it has ended. */
function isSilent(slot: Slot | undefined, { atMs }: ProcessHeader): boolean {
  const header = slot?.document?.header
  return header !== undefined && atMs - header.atMs > Math.max(SILENT_MS, 3 * header.everyMs)
}

function isSame(slot: Slot | undefined, { id, dashboard }: ProcessHeader): boolean {
  const header = slot?.document?.header
  return header?.id === id && header.dashboard === dashboard
}
