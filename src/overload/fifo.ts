/** A queue whose first element is taken out in constant time. */
export class Fifo<T> {
  #items: (T | undefined)[] = []
  #head = 0

  get first(): T | undefined {
    return this.#items[this.#head]
  }

  push(item: T): void {
    this.#items.push(item)
  }

  clear(): void {
    this.#items = []
    this.#head = 0
  }

  shift(): void {
    if (this.#head >= this.#items.length) return
    this.#items[this.#head++] = undefined
    if (this.#head === this.#items.length) this.clear()
    else if (this.#head > 1000 && 2 * this.#head > this.#items.length) {
      this.#items.splice(0, this.#head)
      this.#head = 0
    }
  }
}
