import { setText } from './dom.js'
import { clock } from './format.js'

/** Shows whether figures arrive; if not, since when they are out of date, and why. */
export function connectionStatus(element) {
  let lostAtMs
  let shown

  return {
    show(isLive, problem = '') {
      lostAtMs = isLive ? undefined : (lostAtMs ?? Date.now())
      const text = isLive
        ? 'Live'
        : `Disconnected since ${clock(lostAtMs)}. ${problem || 'The figures are out of date.'}`
      if (text === shown) return
      shown = text
      setText(element, text)
      element.classList.toggle('is-live', isLive)
      document.body.classList.toggle('is-stale', !isLive)
    },
    showTime(atMs) {
      element.title = `Figures of ${clock(atMs)}`
    },
  }
}
