import { byId, setText } from './dom.js'
import { createLatencyStrip } from './latency-strip.js'

/** Creates the lane of a route whose store may fail: its responses, and the state of its breaker. */
export function createOutageLane(choice, note) {
  const lane = byId('outage-lane').content.firstElementChild.cloneNode(true)
  const part = (selector) => lane.querySelector(selector)
  const strip = createLatencyStrip(part('svg'))
  let changes = [] // { state, atMs }, of the breaker

  lane.dataset.outageLane = choice
  setText(part('h3 code'), `onStoreError: '${choice}'`)
  setText(part('.note'), note)
  part('svg').setAttribute('aria-label', `Statuses and latencies with onStoreError: '${choice}'`)

  return {
    element: lane,
    draw: strip.draw,
    setOutage: strip.setOutage,

    addResponse(atMs, { status, tookMs }) {
      strip.addMark(atMs, status, tookMs)
      setText(part('[data-status]'), String(status))
      setText(part('[data-latency]'), `in ${tookMs < 1 ? '<1' : Math.round(tookMs)} ms`)
      lane.dataset.last = status
    },

    /** Takes the changes of the breaker's state; each was `agoMs` before `nowMs`. */
    setBreaker(latest, nowMs) {
      changes = latest.map(({ state, agoMs }) => ({ state, atMs: nowMs - agoMs }))
      const state = changes.at(-1)?.state ?? 'closed'
      setText(part('[data-breaker]'), state)
      lane.classList.toggle('is-open', state !== 'closed')
      strip.setBreaker(changes)
    },

    /** Returns when the breaker closed; `undefined` while it is not closed, 0 if it never opened. */
    closedAtMs() {
      const last = changes.at(-1)
      if (last === undefined) return 0
      return last.state === 'closed' ? last.atMs : undefined
    },
  }
}
