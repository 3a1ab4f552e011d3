import { byId, setText } from './dom.js'
import { seconds } from './format.js'
import { createStrip } from './strip.js'

/**
 * Creates the lane of a policy: a radio button that picks it, the strip of its requests, and what is left
 * of its quota. `isPicked` is the initial choice.
 */
export function createLane({ name, title, note }, isPicked) {
  const lane = byId('lane').content.firstElementChild.cloneNode(true)
  const part = (selector) => lane.querySelector(selector)
  const radio = part('input')
  Object.assign(radio, { value: name, id: `lane-${name}`, checked: isPicked })
  part('label').htmlFor = radio.id
  setText(part('label'), title)
  setText(part('.note'), note)
  lane.dataset.lane = name
  part('svg').setAttribute('aria-label', `${title}: requests and remaining units over the last seconds`)

  const strip = createStrip(part('svg'))
  const counts = { allowed: 0, sent: 0 }
  let quota
  let quotaAtMs = 0

  function showCounts() {
    setText(part('[data-allowed]'), String(counts.allowed))
    setText(part('[data-sent]'), String(counts.sent))
  }

  return {
    element: lane,
    showBorders: strip.showBorders,

    addResponse(isAllowed) {
      counts.sent++
      if (isAllowed) counts.allowed++
      strip.addMark(performance.now(), isAllowed)
      showCounts()
    },

    /** Takes what the server says is left of the quota. */
    setQuota(decision) {
      quota = decision
      quotaAtMs = performance.now()
      strip.addLevel(quotaAtMs, quota.remaining / quota.limit)
      setText(part('[data-remaining]'), String(quota.remaining))
      setText(part('[data-limit]'), `of ${quota.limit} left`)
      lane.classList.toggle('is-empty', quota.remaining === 0)
    },

    draw(nowMs) {
      strip.draw(nowMs)
      if (quota) setText(part('[data-next]'), nextText(quota, nowMs - quotaAtMs))
    },

    clear() {
      Object.assign(counts, { allowed: 0, sent: 0 })
      quota = undefined
      strip.clear()
      showCounts()
    },
  }
}

/** Says when more units come back: with none left, that is when the next request is allowed. */
function nextText({ limit, remaining, moreAfterMs }, elapsedMs) {
  if (remaining === limit) return 'full'
  const leftMs = moreAfterMs - elapsedMs
  const when = leftMs < 50 ? 'now' : `in ${seconds(leftMs)}`
  return `${remaining === 0 ? 'retry' : 'more'} ${when}`
}
