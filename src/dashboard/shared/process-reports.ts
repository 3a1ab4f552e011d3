import type { Documents } from '../../stores/documents.js'
import { areClientsDue, type LastClients } from './clients-due.js'
import type { OwnReports } from './own-reports.js'
import { headerText, type ProcessDocument, type ProcessHeader, ProcessWriter } from './process-document.js'
import { clientsKey, processesKey, processSlots, type Slot } from './process-slots.js'

/** The slots of all processes, by index. */
export type Slots = readonly (Slot | undefined)[]

/** What of the documents of processes is kept. */
export interface Kept {
  /** `'header'` if only the figures are dropped. */
  figuresOf(document: ProcessDocument): 'all' | 'header' | 'nothing'
  hasClients(header: ProcessHeader): boolean
}

/** What the processes of a group report: each its figures, and in another document, less often, its clients. */
export class ProcessReports {
  readonly #figures
  readonly #clients
  readonly #writer = new ProcessWriter()
  #last: LastClients | undefined

  constructor(documents: Documents, prefix: string, isKept: (header: ProcessHeader) => boolean) {
    this.#figures = processSlots(documents, processesKey(prefix), isKept)
    this.#clients = processSlots(documents, clientsKey(prefix), isKept)
  }

  /**
   * Writes what this process, one of so many, has counted: its clients first, which does not wait for them, so that
   * stores that keep to the order have no run without its clients.
   */
  async write(header: ProcessHeader, own: OwnReports, processes: number): Promise<void> {
    const reports = own.latest()
    const writeClients = async () => {
      await this.#clients.write(header, this.#writer.clients(header, own.withClients(reports, processes)))
      this.#last = { atMs: header.atMs, reports }
    }
    const restoreClients = async () => {
      await this.#clients.readOwn()
      if (this.#clients.isLost(header)) await writeClients()
    }
    const isDue = header.closedAtMs !== undefined || areClientsDue(this.#last, reports, header.atMs)
    await Promise.all([
      isDue || this.#clients.isLost(header) ? writeClients() : restoreClients(),
      this.#figures.write(header, this.#writer.figures(header, reports)),
    ])
  }

  /** Reads the figures first: clients are written before them, so what is read of clients is as new. */
  async read(): Promise<{ readonly figures: Slots; readonly clients: Slots }> {
    const figures = await this.#figures.read()
    return { figures, clients: await this.#clients.read() }
  }

  /** Returns whether the store has lost what a process wrote, as of the last read. */
  isLost(header: ProcessHeader): boolean {
    return this.#figures.isLost(header) || this.#clients.isLost(header)
  }

  /** Drops what is no longer kept of the documents that were read last. */
  async tidy(figures: Slots, clients: Slots, kept: Kept): Promise<void> {
    const tidied = figures.map(async (slot, index) => {
      const document = slot?.document
      if (document === undefined) return
      const part = kept.figuresOf(document)
      if (part === 'nothing') await this.#figures.replace(index, '')
      else if (part === 'header' && document.hasFigures)
        await this.#figures.replace(index, headerText(document.header))
    })
    const emptied = clients.map(async (slot, index) => {
      const header = slot?.document?.header
      if (header !== undefined && !kept.hasClients(header)) await this.#clients.replace(index, '')
    })
    await Promise.all([...tidied, ...emptied])
  }
}
