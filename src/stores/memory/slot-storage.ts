import type { State } from '../../policies/policy.js'

/** Slots in a page: few enough to split a page in microseconds, and enough for pages to fill evenly. */
export const PAGE_SLOTS = 512
/** The size of a chunk, unless one page is larger. */
const CHUNK_BYTES = 1 << 18

/** The memory of some pages. A slot's hash and its state lie side by side: a lookup reads one cache line. */
export interface Chunk {
  /** For each slot: `low` (0 = the slot is empty), `high`, and two words for each number of the state. */
  readonly words: Int32Array
  /** The same bytes. For each slot: the hash, which is not a number, and the numbers of the state. */
  readonly numbers: Float64Array
  /** For each slot the number of its policy: apart, because a lookup does not read it. */
  readonly policyIds: Uint32Array
}

/**
 * The slots of a page table, numbered without gaps from page to page. Their memory grows and shrinks by
 * chunks of a fixed size, so that growing copies nothing.
 */
export class SlotStorage {
  readonly chunks: Chunk[] = []
  /** Numbers per slot: one for the hash, the others for the state. */
  readonly stride: number
  /** A slot shifted by this is the index of its chunk; the lower bits are the slot's index in it. */
  readonly chunkShift: number
  readonly #state: number[]
  #pages = 0

  constructor(width: number) {
    this.stride = 1 + width
    const pagesPerChunk = Math.max(1, CHUNK_BYTES / (8 * PAGE_SLOTS * this.stride))
    this.chunkShift = Math.log2(PAGE_SLOTS) + Math.floor(Math.log2(pagesPerChunk))
    this.#state = Array.from({ length: width }, () => 0.5) // a fraction makes V8 keep an array of doubles
    this.addPage()
  }

  /** How many slots there are, including empty ones. */
  get length(): number {
    return this.#pages * PAGE_SLOTS
  }

  /** Adds an empty page. Changes nothing where there is no memory for it. */
  addPage(): void {
    if (this.length === this.chunks.length << this.chunkShift) this.chunks.push(this.#newChunk())
    this.#pages++
  }

  /** Removes a page. The last page takes its number. */
  removePage(page: number): void {
    this.#pages--
    for (let i = 0; i < PAGE_SLOTS; i++) {
      this.copy(this.length + i, page * PAGE_SLOTS + i)
      this.clear(this.length + i)
    }
    if (this.length === (this.chunks.length - 1) << this.chunkShift) this.chunks.pop()
  }

  isTaken(slot: number): boolean {
    return this.lowAt(slot) !== 0
  }

  lowAt(slot: number): number {
    return this.#chunkOf(slot).words[2 * this.#indexOf(slot) * this.stride] as number
  }

  highAt(slot: number): number {
    return this.#chunkOf(slot).words[2 * this.#indexOf(slot) * this.stride + 1] as number
  }

  policyIdAt(slot: number): number {
    return this.#chunkOf(slot).policyIds[this.#indexOf(slot)] as number
  }

  /** Returns the state in a slot, in an array that the next call reuses. */
  read(slot: number): State {
    const { numbers } = this.#chunkOf(slot)
    const state = this.#state
    const first = this.#indexOf(slot) * this.stride + 1
    for (let i = 0; i < state.length; i++) state[i] = numbers[first + i] as number
    return state
  }

  write(slot: number, state: State): void {
    const { numbers } = this.#chunkOf(slot)
    const first = this.#indexOf(slot) * this.stride + 1
    for (let i = 0; i < this.#state.length; i++) numbers[first + i] = state[i] as number
  }

  /** Takes an empty slot. */
  fill(slot: number, high: number, low: number, policyId: number, state: State): void {
    const { words, policyIds } = this.#chunkOf(slot)
    const index = this.#indexOf(slot)
    words[2 * index * this.stride] = low
    words[2 * index * this.stride + 1] = high
    policyIds[index] = policyId
    this.write(slot, state)
  }

  clear(slot: number): void {
    this.#chunkOf(slot).words[2 * this.#indexOf(slot) * this.stride] = 0
  }

  /** Copies a slot word by word: a hash that is copied as a double may change. */
  copy(from: number, to: number): void {
    const [source, target] = [this.#chunkOf(from), this.#chunkOf(to)]
    const words = 2 * this.stride
    const [sourceAt, targetAt] = [this.#indexOf(from) * words, this.#indexOf(to) * words]
    for (let i = 0; i < words; i++) target.words[targetAt + i] = source.words[sourceAt + i] as number
    target.policyIds[this.#indexOf(to)] = source.policyIds[this.#indexOf(from)] as number
  }

  #chunkOf(slot: number): Chunk {
    return this.chunks[slot >>> this.chunkShift] as Chunk
  }

  #indexOf(slot: number): number {
    return slot & ((1 << this.chunkShift) - 1)
  }

  #newChunk(): Chunk {
    const slots = 1 << this.chunkShift
    const words = new Int32Array(2 * slots * this.stride)
    return { words, numbers: new Float64Array(words.buffer), policyIds: new Uint32Array(slots) }
  }
}
