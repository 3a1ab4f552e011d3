import type { State } from '../../policies/policy.js'

/** How many numbers a state takes besides its own. */
const HEADER = 2

/**
 * The states of a page that do not fit into their slots, in one array: for each, how many numbers have room,
 * how many it has, and these numbers. A slot has the position of its state. As an object each, a million of
 * them would keep the garbage collector busy, and lie all over memory.
 */
export class WideStates {
  readonly #numbers: Float64Array
  /** Where the last state ends. */
  #end = 0
  /** How many numbers belong to states that were removed. */
  #unused = 0

  constructor(room: number) {
    this.#numbers = new Float64Array(room)
  }

  /** How many numbers are in use, or kept for states that grow. */
  get used(): number {
    return this.#end - this.#unused
  }

  /** Whether less than half of the room is in use. */
  get isSparse(): boolean {
    return this.used < this.#numbers.length / 2
  }

  /** Returns how many numbers a state takes that has room for so many. */
  static sizeOf(room: number): number {
    return HEADER + room
  }

  hasRoomFor(room: number): boolean {
    return this.#end + HEADER + room <= this.#numbers.length
  }

  #roomAt(position: number): number {
    return this.#numbers[position] as number
  }

  lengthAt(position: number): number {
    return this.#numbers[position + 1] as number
  }

  /** Returns a copy of a state. */
  read(position: number): State {
    const state = new Array<number>(this.lengthAt(position)).fill(0.5) // which V8 keeps as doubles
    for (let i = 0; i < state.length; i++) state[i] = this.#numbers[position + HEADER + i] as number
    return state
  }

  /**
   * Adds the state of `length` numbers that begins in `from` at `start`, with room for it to grow. There must
   * be that much room. Returns its position.
   */
  add(from: ArrayLike<number>, start: number, length: number, room: number): number {
    const position = this.#end
    this.#end += HEADER + room
    this.#numbers[position] = room
    this.#write(position, from, start, length)
    return position
  }

  /** Replaces a state by another, which must fit, and fill half of the room. Returns whether it has. */
  replace(position: number, state: State): boolean {
    const room = this.#roomAt(position)
    if (state.length > room || 2 * state.length < room) return false
    this.#write(position, state, 0, state.length)
    return true
  }

  #write(position: number, from: ArrayLike<number>, start: number, length: number): void {
    this.#numbers[position + 1] = length
    for (let i = 0; i < length; i++) this.#numbers[position + HEADER + i] = from[start + i] as number
  }

  remove(position: number): void {
    this.#unused += HEADER + this.#roomAt(position)
  }

  /** Adds a state to others, with the same room. Returns its position there. */
  copyTo(others: WideStates, position: number): number {
    return others.add(this.#numbers, position + HEADER, this.lengthAt(position), this.#roomAt(position))
  }

  /** Writes a state, after its length, into `numbers`. Returns where it ends. */
  save(position: number, numbers: Float64Array, at: number): number {
    const count = 1 + this.lengthAt(position)
    for (let i = 0; i < count; i++) numbers[at + i] = this.#numbers[position + 1 + i] as number
    return at + count
  }
}
