/** Something that happens at a time. */
export interface Event {
  readonly atMs: number
  readonly run: () => void
  /** Whether promises may settle by it. */
  readonly settles: boolean
}

/** The events to come, the earliest first. Events of one time come in the order in which they were added. */
export type EventQueue = ReturnType<typeof eventQueue>

/** Creates an empty queue: a binary heap. */
export function eventQueue() {
  const heap: { readonly event: Event; readonly order: number }[] = []
  let added = 0

  function isBefore(a: number, b: number): boolean {
    const [one, other] = [heap[a], heap[b]]
    if (one === undefined || other === undefined) return one !== undefined
    const difference = one.event.atMs - other.event.atMs
    return difference < 0 || (difference === 0 && one.order < other.order)
  }

  function swap(a: number, b: number): void {
    const one = heap[a]
    heap[a] = heap[b] as (typeof heap)[number]
    heap[b] = one as (typeof heap)[number]
  }

  function siftUp(index: number): void {
    const parent = (index - 1) >> 1
    if (index === 0 || !isBefore(index, parent)) return
    swap(index, parent)
    siftUp(parent)
  }

  function siftDown(index: number): void {
    const left = 2 * index + 1
    const child = isBefore(left + 1, left) ? left + 1 : left
    if (!isBefore(child, index)) return
    swap(index, child)
    siftDown(child)
  }

  return {
    add(event: Event): void {
      heap.push({ event, order: added++ })
      siftUp(heap.length - 1)
    },
    /** Removes and returns the earliest event; `undefined` if there is none until `untilMs`. */
    next(untilMs: number): Event | undefined {
      const first = heap[0]?.event
      if (first === undefined || first.atMs > untilMs) return undefined
      swap(0, heap.length - 1)
      heap.pop()
      siftDown(0)
      return first
    },
  }
}
