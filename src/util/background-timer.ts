/** Lets the process end while a timer runs. Returns the timer. On Workers a timer is a number. */
export function inBackground<Timer>(timer: Timer & { unref?(): void }): Timer {
  timer.unref?.()
  return timer
}
