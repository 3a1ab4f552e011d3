import { computed, type Ref, shallowRef, triggerRef, watch } from 'vue'
import { openingSimulation } from './opening.js'
import { SHOWN } from './shown.js'
import { useClock } from './use-clock.js'
import { outcomeText } from './words.js'

const TITLES = SHOWN.map(({ title }) => title)
/** By then, the last request of a burst has been sent. */
const BURST_MS = 500

/** Runs the simulation of the page while the element is in view, and does what its controls ask for. */
export function useSimulation(element: Readonly<Ref<Element | null>>) {
  const { simulation, nowMs: openingMs } = openingSimulation()
  const nowMs = shallowRef(openingMs) // also says that the lanes have changed
  const isPaused = shallowRef(false)
  const isStreaming = shallowRef(false)
  const perSecond = shallowRef(3)
  const announcement = shallowRef('')
  let sentAtMs: number | undefined // a burst whose outcome is not announced yet

  const isRunning = computed(() => !isPaused.value && nowMs.value > 0 && !simulation.isIdle())
  useClock(element, isRunning, (elapsedMs) => {
    nowMs.value += elapsedMs
    simulation.advance(nowMs.value)
    if (sentAtMs !== undefined && nowMs.value > sentAtMs + BURST_MS) announceOutcome(sentAtMs)
  })

  function announceOutcome(sinceMs: number): void {
    announcement.value = outcomeText(TITLES, simulation.lanes, sinceMs)
    sentAtMs = undefined
  }

  function send(requests: number): void {
    sentAtMs = nowMs.value
    simulation.burst(requests, nowMs.value)
    simulation.advance(nowMs.value)
    isPaused.value = false
    triggerRef(nowMs)
  }

  watch([isStreaming, perSecond], () => {
    simulation.stream(isStreaming.value ? perSecond.value : 0, nowMs.value)
    if (isStreaming.value) isPaused.value = false
    triggerRef(nowMs)
  })

  return { lanes: simulation.lanes, nowMs, isPaused, isStreaming, perSecond, announcement, send }
}
