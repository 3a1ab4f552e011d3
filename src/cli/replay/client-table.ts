import { InputError } from '../failures.js'
import { ipv4Number, ipv4Text } from '../log/ipv4-number.js'
import { ownCopy } from './identity.js'
import { Ipv4Table } from './ipv4-table.js'

const PAGE_BITS = 12
const PAGE_MASK = 2 ** PAGE_BITS - 1

/** The most entries of a `Map` in V8. */
const MAX_CLIENTS = 2 ** 24

/** A number for each client, in the order of their first requests. */
export class ClientTable {
  readonly #byAddress = new Ipv4Table()
  readonly #byText = new Map<string, number>()

  get size(): number {
    return this.#byAddress.size + this.#byText.size
  }

  /** Returns the number of a client, from 0 on: of a new one the next. */
  idOf(identity: string): number {
    const { size } = this
    const address = ipv4Number(identity)
    const id = address < 0 ? this.#byText.get(identity) : this.#byAddress.numberOf(address, size)
    if (id !== undefined && id < MAX_CLIENTS) return id
    if (size >= MAX_CLIENTS) throw new InputError(`the logs have more than ${MAX_CLIENTS} clients`)
    this.#byText.set(ownCopy(identity), size)
    return size
  }

  /** Returns the identities of some clients, by their numbers. Searches all clients. */
  identitiesOf(ids: ReadonlySet<number>): ReadonlyMap<number, string> {
    const found = new Map<number, string>()
    for (const [identity, id] of this.#byText) if (ids.has(id)) found.set(id, identity)
    for (const [address, id] of this.#byAddress.entries()) if (ids.has(id)) found.set(id, ipv4Text(address))
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
