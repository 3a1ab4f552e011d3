/** Waits for one turn of the event loop, in which all promise callbacks that are due have run. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
