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

  /** Writes what this process, one of so many, has counted: its clients first, so that no run is without them. */
  async write(header: ProcessHeader, own: OwnReports, processes: number): Promise<void> {
    const reports = own.latest()
    if (header.closedAtMs !== undefined || areClientsDue(this.#last, reports, header.atMs)) {
      await this.#clients.write(header, this.#writer.clients(header, own.withClients(reports, processes)))
      this.#last = { atMs: header.atMs, reports }
    }
    await this.#figures.write(header, this.#writer.figures(header, reports))
  }

  async read(): Promise<{ readonly figures: Slots; readonly clients: Slots }> {
    const [figures, clients] = await Promise.all([this.#figures.read(), this.#clients.read()])
    return { figures, clients }
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
