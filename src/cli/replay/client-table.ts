import { InputError } from '../failures.js'
import { ownCopy } from './identity.js'

const PAGE_BITS = 12
const PAGE_MASK = 2 ** PAGE_BITS - 1

/** The most entries of a `Map` in V8. */
const MAX_CLIENTS = 2 ** 24

/** A number for each client, in the order of their first requests. */
export class ClientTable {
  readonly #ids = new Map<string, number>()

  get size(): number {
    return this.#ids.size
  }

  /** Returns the number of a client, from 0 on: of a new one the next. */
  idOf(identity: string): number {
    const existing = this.#ids.get(identity)
    if (existing !== undefined) return existing
    const id = this.#ids.size
    if (id === MAX_CLIENTS) throw new InputError(`the logs have more than ${MAX_CLIENTS} clients`)
    this.#ids.set(ownCopy(identity), id)
    return id
  }

  /** Returns the identities of some clients, by their numbers. Searches all clients. */
  identitiesOf(ids: ReadonlySet<number>): ReadonlyMap<number, string> {
    const found = new Map<number, string>()
    for (const [identity, id] of this.#ids) if (ids.has(id)) found.set(id, identity)
    return found
  }
}

/** A few numbers for each client, zeros at first, in pages that are made when they are needed. */
export class ClientNumbers {
  readonly #pages: Float64Array[] = []
  readonly #width: number

  constructor(width: number) {
    this.#width = width
  }

  /** Returns the page of a client's numbers, which lie at `offsetOf`. */
  pageOf(id: number): Float64Array {
    const index = id >> PAGE_BITS
    const existing = this.#pages[index]
    if (existing !== undefined) return existing
    const page = new Float64Array((PAGE_MASK + 1) * this.#width)
    this.#pages[index] = page
    return page
  }

  offsetOf(id: number): number {
    return (id & PAGE_MASK) * this.#width
  }

  /** Returns one of a client's numbers. */
  get(id: number, index: number): number {
    return this.pageOf(id)[this.offsetOf(id) + index] ?? 0
  }
}
