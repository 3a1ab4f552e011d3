/** The longest delay of `setTimeout`. A longer one fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * Calls `callback` at a time of `performance.now()`, however far away; never earlier, as a timer may after
 * work that blocked the process. Returns a function that cancels the call.
 */
export function callAt(atMs: number, callback: () => void): () => void {
  let timer = start()

  function start() {
    return setTimeout(check, Math.min(Math.ceil(atMs - performance.now()), MAX_TIMER_MS))
  }

  function check() {
    if (performance.now() < atMs) timer = start()
    else callback()
  }

  return () => clearTimeout(timer)
}
