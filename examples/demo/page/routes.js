import { animate, createGauge } from './gauge.js'
import { seconds } from './quota.js'
import { send } from './request.js'
import { showResponse } from './response-view.js'

const showGauge = createGauge(document.getElementById('api-gauge'))
const figure = document.getElementById('api-response')
const summary = document.getElementById('api-summary')
let quota = { limit: 20, remaining: 20, atMs: 0, fullAtMs: 0 }

for (const button of document.querySelectorAll('[data-path]')) {
  button.addEventListener('click', async () => {
    const response = await send(button.dataset.path)
    showResponse(figure, response)
    if (response.status === 0) return
    quota = quotaIn(response.headers)
    summary.textContent = `${response.status} ${response.statusText}. ${quota.remaining} of ${quota.limit} left.`
  })
}

/** Reads the quota from the headers, as any client would. `X-RateLimit-Reset` is in seconds since 1970. */
function quotaIn(headers) {
  const number = (name) => Number(headers.get(`x-ratelimit-${name}`))
  const fullAfterMs = number('reset') * 1000 - Date.parse(headers.get('date'))
  const atMs = performance.now()
  return { limit: number('limit'), remaining: number('remaining'), atMs, fullAtMs: atMs + fullAfterMs }
}

animate(() => {
  const { limit, remaining, atMs, fullAtMs } = quota
  const missingMs = fullAtMs - performance.now()
  if (missingMs <= 0) return showGauge(limit, limit, 'full')
  const level = limit - ((limit - remaining) * missingMs) / (fullAtMs - atMs)
  showGauge(level, limit, `full in ${seconds(missingMs)}`)
})

document.getElementById('curl').textContent =
  `curl -s -o /dev/null -w '%{http_code}\\n' '${location.origin}/api/time?[1-25]'`
