import type { State } from '../../policies/policy.js'

/**
 * The states of a page that do not fit into their slots, in one array: of each its length, then its numbers. A
 * slot has the position of its state. As an object each, a million of them would keep the garbage collector
 * busy, and lie all over memory.
 */
export class WideStates {
  readonly #numbers: Float64Array
  /** Where the last state ends. */
  #end = 0
  /** How many numbers, lengths included, belong to states that were removed. */
  #unused = 0

  constructor(room: number) {
    this.#numbers = new Float64Array(room)
  }

  /** How many numbers, lengths included, are in use. */
  get used(): number {
    return this.#end - this.#unused
  }

  /** Whether less than half of the room is in use. */
  get isSparse(): boolean {
    return this.used < this.#numbers.length / 2
  }

  hasRoomFor(length: number): boolean {
    return this.#end + 1 + length <= this.#numbers.length
  }

  lengthAt(position: number): number {
    return this.#numbers[position] as number
  }

  /** Returns a copy of a state. */
  read(position: number): State {
    const state = new Array<number>(this.lengthAt(position)).fill(0.5) // which V8 keeps as doubles
    for (let i = 0; i < state.length; i++) state[i] = this.#numbers[position + 1 + i] as number
    return state
  }

  /** Adds the state that begins in `from` at `start`. Returns its position. There must be room for it. */
  add(from: ArrayLike<number>, start: number, length: number): number {
    const position = this.#end
    this.#end += 1 + length
    this.#numbers[position] = length
    this.#write(position, from, start)
    return position
  }

  /** Replaces a state by another. Returns whether it has: they must have the same length. */
  replace(position: number, state: State): boolean {
    if (this.lengthAt(position) !== state.length) return false
    this.#write(position, state, 0)
    return true
  }

  #write(position: number, from: ArrayLike<number>, start: number): void {
    const length = this.lengthAt(position)
    for (let i = 0; i < length; i++) this.#numbers[position + 1 + i] = from[start + i] as number
  }

  remove(position: number): void {
    this.#unused += 1 + this.lengthAt(position)
  }

  /** Adds a state to others. Returns its position there. */
  copyTo(others: WideStates, position: number): number {
    return others.add(this.#numbers, position + 1, this.lengthAt(position))
  }

  /** Writes a state, after its length, into `numbers`. Returns where it ends. */
  save(position: number, numbers: Float64Array, at: number): number {
    const count = 1 + this.lengthAt(position)
    for (let i = 0; i < count; i++) numbers[at + i] = this.#numbers[position + i] as number
    return at + count
  }
}
