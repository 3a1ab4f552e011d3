import { onBeforeUnmount, onMounted, type Ref, shallowRef, watch } from 'vue'

/** Marks move by about a pixel in this time. */
const FRAME_MS = 33
/** For readers who prefer reduced motion. */
const STILL_FRAME_MS = 500
/** After a longer frame, such as one of a sleeping computer, the clock goes on from here. */
const MAX_STEP_MS = 1000

/**
 * Calls `tick` with the milliseconds since the last call, as long as the element is in view, the tab is
 * visible and `isRunning` is true.
 */
export function useClock(
  element: Readonly<Ref<Element | null>>,
  isRunning: Readonly<Ref<boolean>>,
  tick: (elapsedMs: number) => void,
): void {
  const isInView = shallowRef(false)
  const isVisible = shallowRef(true)
  let stop = () => {}
  let observer: IntersectionObserver | undefined
  const readVisibility = () => {
    isVisible.value = !document.hidden
  }

  onMounted(() => {
    observer = new IntersectionObserver((entries) => {
      isInView.value = entries.at(-1)?.isIntersecting ?? false
    })
    if (element.value !== null) observer.observe(element.value)
    document.addEventListener('visibilitychange', readVisibility)
    readVisibility()
  })
  watch([isInView, isVisible, isRunning], (conditions) => {
    stop()
    stop = conditions.every(Boolean) ? startTicking(tick) : () => {}
  })
  onBeforeUnmount(() => {
    stop()
    observer?.disconnect()
    document.removeEventListener('visibilitychange', readVisibility)
  })
}

/** Ticks until the returned function is called. */
function startTicking(tick: (elapsedMs: number) => void): () => void {
  const prefersStill = matchMedia('(prefers-reduced-motion: reduce)')
  let lastMs = performance.now()
  let frame = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  function next(): void {
    const elapsedMs = performance.now() - lastMs
    if (elapsedMs >= FRAME_MS) {
      lastMs += elapsedMs
      tick(Math.min(elapsedMs, MAX_STEP_MS))
    }
    if (prefersStill.matches) timer = setTimeout(next, STILL_FRAME_MS)
    else frame = requestAnimationFrame(next)
  }

  frame = requestAnimationFrame(next)
  return () => {
    cancelAnimationFrame(frame)
    clearTimeout(timer)
  }
}
