import { send } from './request.js'
import { element, showResponse } from './response-view.js'

const SHOWN = 5
const form = document.getElementById('login-form')
const attempts = document.getElementById('attempts')

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const fields = new URLSearchParams(new FormData(form))
  const response = await send('/login', { method: 'POST', body: fields })
  showResponse(document.getElementById('login-response'), response)
  const line = element('li', '', outcome(response))
  line.dataset.outcome = response.status === 200 ? 'allowed' : response.status === 401 ? 'failed' : 'denied'
  attempts.prepend(line)
  while (attempts.children.length > SHOWN) attempts.lastElementChild.remove()
})

function outcome({ status, statusText, headers, body }) {
  if (status === 200) return `${body.message} Not counted.`
  if (status === 401) return `${body.message} Counted: ${left(headers)} left.`
  if (status === 429) return `Denied before the password was checked. ${body.detail}`
  return statusText
}

/** The lowest `r` of the limits in the RateLimit header: `"ip";r=8;t=6, "account";r=1;t=2`. */
function left(headers) {
  const remaining = [...(headers.get('ratelimit') ?? '').matchAll(/;r=(\d+)/g)].map(([, r]) => Number(r))
  const tries = Math.min(...remaining)
  return tries === 1 ? '1 try' : `${tries} tries`
}
