import type { State } from '../../policies/policy.js'
import { PageFile, type Piece, SLOTS } from './page-allocator.js'

/** A page with so many states is split: chains of taken slots would grow long. */
const FULL = Math.floor(0.8 * SLOTS)
/** Two halves with fewer states between them are put together. */
const SPARSE = SLOTS / 2

/** What is known of a page: how many states it has, how many of the first bits of `high` they share, and these bits. */
interface Page {
  states: number
  depth: number
  prefix: number
}

/**
 * States of one width by the hashes of their keys, each with a label. Two keys of equal hash share a state: for n keys, the
 * odds that any two do are about n²/2^65, one in 370,000 at ten million keys.
 *
 * Extendible hashing (Fagin, Nievergelt, Pippenger and Strong, 1979): a directory leads from the first bits of `high` to a
 * page, which is a hash table of its own, by `low`, with linear probing. A page that is full is split by the next bit, and
 * two sparse halves are put together. So no step moves more than a page, and nothing is ever there twice.
 *
 * A place is the number of a slot. It holds until a state is added or removed.
 */
export class PageTable {
  readonly #file: PageFile
  readonly #pages: Page[] = [{ states: 0, depth: 0, prefix: 0 }]
  readonly #state: number[]
  /** The number of the page for each value of the first bits of `high`. The shift leaves these; at least one. */
  #directory = new Int32Array(2)
  #shift = 31
  /** How many pages have as many bits as the directory tells apart. With none, half of it would do. */
  #deepest = 0
  #size = 0

  constructor(width: number) {
    this.#file = new PageFile(width)
    this.#state = Array.from({ length: width }, () => 0.5) // fractions tell the engine to keep doubles
  }

  get size(): number {
    return this.#size
  }

  /** How many places there are, the empty ones included. */
  get places(): number {
    return this.#pages.length * SLOTS
  }

  /** The place of a hash; -1 where it has none. `low` is not 0. */
  find(high: number, low: number): number {
    const { pieces, shift, stride } = this.#file
    const first = (this.#directory[high >>> this.#shift] as number) * SLOTS
    const { words } = pieces[first >>> shift] as Piece
    const firstSlot = first & ((1 << shift) - 1)
    for (let slot = low & (SLOTS - 1); ; slot = (slot + 1) & (SLOTS - 1)) {
      const at = (firstSlot + slot) * 2 * stride
      const found = words[at]
      if (found === low && words[at + 1] === high) return first + slot
      if (found === 0) return -1
    }
  }

  /** Adds a state under a hash that has none. */
  add(high: number, low: number, label: number, state: State): void {
    let number = this.#directory[high >>> this.#shift] as number
    while ((this.#pages[number] as Page).states >= FULL) {
      this.#split(number)
      number = this.#directory[high >>> this.#shift] as number
    }
    const place = this.#vacancy(number, low)
    const { words, labels } = this.#pieceOf(place)
    const slot = this.#slotOf(place)
    words[2 * slot * this.#file.stride] = low
    words[2 * slot * this.#file.stride + 1] = high
    labels[slot] = label
    this.write(place, state)
    this.#size++
  }

  remove(place: number): void {
    const number = Math.floor(place / SLOTS)
    this.#vacate(place)
    this.#size--
    if ((this.#pages[number] as Page).states < SPARSE / 2) this.#merge(number)
  }

  isTaken(place: number): boolean {
    return this.lowAt(place) !== 0
  }

  /** The first place from `from` on that is taken; `end`, or what is behind it, if none before it is. */
  nextTaken(from: number, end: number): number {
    let place = from
    while (place < end && !this.isTaken(place)) place++
    return place
  }

  lowAt(place: number): number {
    return this.#pieceOf(place).words[2 * this.#slotOf(place) * this.#file.stride] as number
  }

  labelAt(place: number): number {
    return this.#pieceOf(place).labels[this.#slotOf(place)] as number
  }

  /** The state at a place, in an array that is used for the next one again. */
  read(place: number): State {
    const { numbers } = this.#pieceOf(place)
    const state = this.#state
    const first = this.#slotOf(place) * this.#file.stride + 1
    for (let i = 0; i < state.length; i++) state[i] = numbers[first + i] as number
    return state
  }

  write(place: number, state: State): void {
    const { numbers } = this.#pieceOf(place)
    const first = this.#slotOf(place) * this.#file.stride + 1
    for (let i = 0; i < this.#state.length; i++) numbers[first + i] = state[i] as number
  }

  #pieceOf(place: number): Piece {
    return this.#file.pieces[place >>> this.#file.shift] as Piece
  }

  #slotOf(place: number): number {
    return place & ((1 << this.#file.shift) - 1)
  }

  /** The first empty place of a page for a hash, which is counted as taken from now on. */
  #vacancy(number: number, low: number): number {
    const page = this.#pages[number] as Page
    page.states++
    const first = number * SLOTS
    let slot = low & (SLOTS - 1)
    while (this.isTaken(first + slot)) slot = (slot + 1) & (SLOTS - 1)
    return first + slot
  }

  /** Empties a place. Those behind it that had found it taken move up. */
  #vacate(place: number): void {
    const number = Math.floor(place / SLOTS)
    const first = number * SLOTS
    let hole = place - first
    for (let slot = (hole + 1) % SLOTS; this.isTaken(first + slot); slot = (slot + 1) % SLOTS) {
      const fromHome = (slot - this.lowAt(first + slot)) & (SLOTS - 1)
      if (fromHome < ((slot - hole) & (SLOTS - 1))) continue
      this.#copy(first + slot, first + hole)
      hole = slot
    }
    this.#pieceOf(first).words[2 * this.#slotOf(first + hole) * this.#file.stride] = 0
    const page = this.#pages[number] as Page
    page.states--
  }

  /** Copies words: taken for a number, a hash might not come out as it went in. */
  #copy(from: number, to: number): void {
    const [source, target] = [this.#pieceOf(from), this.#pieceOf(to)]
    const length = 2 * this.#file.stride
    const [sourceAt, targetAt] = [this.#slotOf(from) * length, this.#slotOf(to) * length]
    for (let i = 0; i < length; i++) target.words[targetAt + i] = source.words[sourceAt + i] as number
    target.labels[this.#slotOf(to)] = source.labels[this.#slotOf(from)] as number
  }

  #move(place: number, number: number): void {
    this.#copy(place, this.#vacancy(number, this.lowAt(place)))
    this.#vacate(place)
  }

  /** Moves the states whose next bit is 1 to a page of their own. What may fail for want of memory comes before anything changes. */
  #split(number: number): void {
    const page = this.#pages[number] as Page
    if (page.depth === 32 - this.#shift) this.#resizeDirectory(this.#shift - 1)
    this.#file.add()
    page.depth++
    page.prefix *= 2
    const other = { states: 0, depth: page.depth, prefix: page.prefix + 1 }
    const otherNumber = this.#pages.push(other) - 1
    if (page.depth === 32 - this.#shift) this.#deepest += 2
    this.#direct(otherNumber)
    for (let place = number * SLOTS; place < (number + 1) * SLOTS; place++) {
      while (this.isTaken(place) && this.#pageAt(place) === otherNumber) this.#move(place, otherNumber)
    }
  }

  /** Puts a page together with its other half, if that is one page, and both are sparse. */
  #merge(number: number): void {
    const page = this.#pages[number] as Page
    if (page.depth === 0) return
    const otherNumber = this.#directory[(page.prefix ^ 1) << (32 - this.#shift - page.depth)] as number
    const other = this.#pages[otherNumber] as Page
    if (other.depth !== page.depth || page.states + other.states >= SPARSE) return
    for (let place = otherNumber * SLOTS; place < (otherNumber + 1) * SLOTS; place++) {
      while (this.isTaken(place)) this.#move(place, number)
    }
    if (page.depth === 32 - this.#shift) this.#deepest -= 2
    page.depth--
    page.prefix >>>= 1
    this.#direct(number)
    this.#drop(otherNumber)
    while (this.#deepest === 0 && this.#shift < 31) this.#resizeDirectory(this.#shift + 1)
  }

  /** Drops an empty page. The last one takes its number. */
  #drop(number: number): void {
    this.#file.moveLast(number)
    const last = this.#pages.pop() as Page
    if (number === this.#pages.length) return
    this.#pages[number] = last
    this.#direct(number)
  }

  #pageAt(place: number): number {
    const high = this.#pieceOf(place).words[2 * this.#slotOf(place) * this.#file.stride + 1] as number
    return this.#directory[high >>> this.#shift] as number
  }

  /** Has the directory lead to a page for all that begins with its bits. */
  #direct(number: number): void {
    const { prefix, depth } = this.#pages[number] as Page
    const unused = 32 - this.#shift - depth
    this.#directory.fill(number, prefix << unused, (prefix + 1) << unused)
  }

  #resizeDirectory(shift: number): void {
    const directory = new Int32Array(2 ** (32 - shift))
    const step = 2 ** (shift - this.#shift) // in the old one
    for (let i = 0; i < directory.length; i++) directory[i] = this.#directory[Math.floor(i * step)] as number
    this.#directory = directory
    this.#shift = shift
    this.#deepest = this.#pages.filter(({ depth }) => depth === 32 - shift).length
  }
}
