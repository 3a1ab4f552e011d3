import { connection } from './connection.js'
import { announce, setText } from './dom.js'

/** An unused tab stops sending after this time. */
const MAX_RUN_MS = 180_000
/** Strips move by half a pixel in this time. */
const FRAME_MS = 30

/**
 * Runs a section's traffic while the section is in view, the tab is visible and the server answers. The
 * button pauses it. `start` and `stop` are called as it begins and ends.
 */
export function createRun(section, button, { start, stop }) {
  const hint = section.querySelector('[data-run-hint]')
  let isPaused = false
  let isInView = false
  let isActive = false
  let endTimer

  function update() {
    const shouldRun = !isPaused && isInView && !document.hidden && connection.isUp
    if (shouldRun === isActive) return
    isActive = shouldRun
    clearTimeout(endTimer)
    if (isActive) endTimer = setTimeout(end, MAX_RUN_MS)
    isActive ? start() : stop()
  }

  function pause(next, why = '') {
    isPaused = next
    setText(button, isPaused ? 'Continue' : 'Pause')
    setText(hint, why)
    update()
  }

  function end() {
    const why = 'Stopped after three minutes.'
    pause(true, why)
    announce(why)
  }

  button.addEventListener('click', () => {
    pause(!isPaused)
    announce(isPaused ? 'Paused.' : 'Running.')
  })
  document.addEventListener('visibilitychange', update)
  connection.onChange(update)
  const middle = { rootMargin: '-30% 0px' } // one section at a time
  new IntersectionObserver(([entry]) => {
    isInView = entry.isIntersecting
    update()
  }, middle).observe(section)

  return {
    get isActive() {
      return isActive
    },
    /** Runs on, also after a pause. */
    resume: () => pause(false),
  }
}

/** Calls `work` now and every `everyMs` until the returned function is called. Never twice at a time. */
export function repeat(everyMs, work) {
  let isStopped = false
  async function next() {
    await work()
    if (!isStopped) setTimeout(() => isStopped || next(), everyMs)
  }
  next()
  return () => {
    isStopped = true
  }
}

/** Calls `work` at each of these times until the returned function is called. Skips no time that is past. */
export function runAt(times, work) {
  let timer
  function next() {
    const { value, done } = times.next()
    if (done) return
    timer = setTimeout(() => {
      work()
      next()
    }, value - performance.now())
  }
  next()
  return () => clearTimeout(timer)
}

/** Calls `draw` thirty times a second, or twice a second for users who prefer reduced motion, until stopped. */
export function animate(draw) {
  const still = matchMedia('(prefers-reduced-motion: reduce)')
  let isStopped = false
  let drawnAtMs = 0
  function next() {
    if (isStopped) return
    const nowMs = performance.now()
    if (nowMs - drawnAtMs > FRAME_MS) {
      draw()
      drawnAtMs = nowMs
    }
    if (still.matches) setTimeout(next, 500)
    else requestAnimationFrame(next)
  }
  next()
  return () => {
    isStopped = true
  }
}

/** Creates a stopwatch that counts milliseconds while it runs. */
export function createStopwatch() {
  let totalMs = 0
  let sinceMs
  const ms = () => totalMs + (sinceMs === undefined ? 0 : performance.now() - sinceMs)
  return {
    ms,
    start() {
      sinceMs ??= performance.now()
    },
    stop() {
      totalMs = ms()
      sinceMs = undefined
    },
    reset() {
      totalMs = 0
      sinceMs = undefined
    },
  }
}
